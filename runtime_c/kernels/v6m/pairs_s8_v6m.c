/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs_s8_v6m.c -- MAXIMUM, MINIMUM, MUL and PRELU, int8, ARMv6-M: walks the outer axes around
 * runs in assembly (pairs_run_s8_v6m.S).
 */
#include "cg_needs_v6m.h"

#include <stddef.h>

#include "cg_kernel_parts.h"
#include "cg_pairs_v6m.h"

_Static_assert(offsetof(cg_pair_params, kind) == 60, "as pairs_run_s8_v6m.S has it");
_Static_assert(offsetof(cg_mul_params_v6m, lhs_offset) == 60, "as pairs_run_s8_v6m.S has it");
_Static_assert(offsetof(cg_prelu_params_v6m, positive) == 88, "as pairs_run_s8_v6m.S has it");

CG_DEFINE_RUNS(cg_extreme_s8_v6m, extreme_row, cg_pair_params)
CG_DEFINE_RUNS(cg_mul_s8_v6m, mul_row, cg_mul_params_v6m)
CG_DEFINE_RUNS(cg_prelu_s8_v6m, prelu_row, cg_prelu_params_v6m)
