/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs_s8_dsp.c -- MAXIMUM, MINIMUM, MUL and PRELU, int8, DSP extension: walks the outer axes
 * around runs in assembly (pairs_run_s8_dsp.S).
 */
#include "cg_needs_dsp.h"

#include <stddef.h>

#include "cg_kernel_parts.h"
#include "cg_pairs_dsp.h"

_Static_assert(offsetof(cg_pair_params, kind) == 60, "as pairs_run_s8_dsp.S has it");
_Static_assert(offsetof(cg_mul_params_dsp, lhs_zeros) == 60, "as pairs_run_s8_dsp.S has it");
_Static_assert(offsetof(cg_prelu_params_dsp, positive) == 80, "as pairs_run_s8_dsp.S has it");

CG_DEFINE_RUNS(cg_extreme_s8_dsp, extreme_row, cg_pair_params)
CG_DEFINE_RUNS(cg_mul_s8_dsp, mul_row, cg_mul_params_dsp)
CG_DEFINE_RUNS(cg_prelu_s8_dsp, prelu_row, cg_prelu_params_dsp)
