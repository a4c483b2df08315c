/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_batch_matmul_s8_dsp.c -- BATCH_MATMUL, int8, DSP extension and FPU, rounded as ONNX does.
 */
#include "cg_needs_dsp.h"

#define MATMUL      cg_qlinear_batch_matmul_s8_dsp
#define MATMUL_ROWS cg_matmul_rows_even_s8_dsp
#include "cg_matmul_dsp_parts.h"
