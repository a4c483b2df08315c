/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs_s8_v7m.c -- MAXIMUM, MINIMUM, MUL and PRELU, int8, ARMv7-M: walks the outer axes around
 * runs in assembly (pairs_run_s8_v7m.S).
 */
#include "cg_needs_v7m.h"

#include <stddef.h>

#include "cg_kernel_parts.h"
#include "cg_pairs_v7m.h"

_Static_assert(offsetof(cg_pair_params, kind) == 60, "as pairs_run_s8_v7m.S has it");
_Static_assert(offsetof(cg_mul_params_v7m, lhs_zero) == 60, "as pairs_run_s8_v7m.S has it");
_Static_assert(offsetof(cg_prelu_params_v7m, positive) == 80, "as pairs_run_s8_v7m.S has it");

CG_DEFINE_RUNS(cg_extreme_s8_v7m, extreme_row, cg_pair_params)
CG_DEFINE_RUNS(cg_mul_s8_v7m, mul_row, cg_mul_params_v7m)
CG_DEFINE_RUNS(cg_prelu_s8_v7m, prelu_row, cg_prelu_params_v7m)
