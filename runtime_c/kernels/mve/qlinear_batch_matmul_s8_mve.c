/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_batch_matmul_s8_mve.c -- BATCH_MATMUL, int8, Helium, rounded as ONNX does. */
#include "cg_needs_mve.h"

#define MATMUL      cg_qlinear_batch_matmul_s8_mve
#define MATMUL_ROWS cg_matmul_rows_even_s8_mve
#include "cg_matmul_mve_parts.h"
