/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_s8.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, int8, with broadcasting. Both arguments are
 * brought to one scale first.
 */
#include "cg_pairs.h"

static int32_t scaled(int32_t x, int32_t multiplier, int32_t shift)
{
    return cg_requantize((int32_t)((uint32_t)x << 8), multiplier, shift);
}

static void compare_row(const cg_compare_params *p, const int8_t *lhs, int32_t lhs_step,
                        const int8_t *rhs, int32_t rhs_step, uint8_t *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = scaled(*lhs - p->lhs_zero, p->lhs_multiplier, p->lhs_shift);
        const int32_t b = scaled(*rhs - p->rhs_zero, p->rhs_multiplier, p->rhs_shift);
        *output++ = CG_HOLDS(p->kind, a, b) ? 1u : 0u;
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_PAIRS(cg_compare_s8, compare_row, cg_compare_params, int8_t, int8_t, uint8_t)
