@ SPDX-License-Identifier: Apache-2.0
@ batch_matmul_rows_even_s8_mve.S -- two rows of BATCH_MATMUL by all columns, int8, Helium:
@ cg_matmul_rows_mve.inc.
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_matmul_rows_mve.inc"

    two_rows cg_matmul_rows_even_s8_mve
