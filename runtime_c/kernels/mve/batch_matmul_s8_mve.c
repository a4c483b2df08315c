/* SPDX-License-Identifier: Apache-2.0 */
/* batch_matmul_s8_mve.c -- BATCH_MATMUL, int8, Helium. */
#include "cg_needs_mve.h"

#define MATMUL      cg_batch_matmul_s8_mve
#define MATMUL_ROWS cg_matmul_rows_s8_mve
#include "cg_matmul_mve_parts.h"
