@ SPDX-License-Identifier: Apache-2.0
@ batch_matmul_rows_s8_dsp.S -- two rows of BATCH_MATMUL by all columns, int8, DSP extension:
@ cg_matmul_rows_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_matmul_rows_dsp.inc"

    two_rows cg_matmul_rows_s8_dsp
