/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s8_dsp.c -- BATCH_MATMUL, int8, DSP extension.
 */
#include "cg_needs_dsp.h"

#define MATMUL      cg_batch_matmul_s8_dsp
#define MATMUL_ROWS cg_matmul_rows_s8_dsp
#include "cg_matmul_dsp_parts.h"
