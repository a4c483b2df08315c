/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs_s8_mve.c -- MAXIMUM, MINIMUM, MUL and PRELU, int8, Helium: walks the outer axes around
 * runs in assembly (pairs_run_s8_mve.S).
 */
#include "cg_needs_mve.h"

#include <stddef.h>

#include "cg_kernel_parts.h"
#include "cg_pairs_mve.h"

_Static_assert(offsetof(cg_pair_params, kind) == 60, "as pairs_run_s8_mve.S has it");
_Static_assert(offsetof(cg_mul_params_mve, lhs_offset) == 60, "as pairs_run_s8_mve.S has it");
_Static_assert(offsetof(cg_prelu_params_mve, positive) == 80, "as pairs_run_s8_mve.S has it");

CG_DEFINE_RUNS(cg_extreme_s8_mve, extreme_row, cg_pair_params)
CG_DEFINE_RUNS(cg_mul_s8_mve, mul_row, cg_mul_params_mve)
CG_DEFINE_RUNS(cg_prelu_s8_mve, prelu_row, cg_prelu_params_mve)
