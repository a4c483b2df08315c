/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arithmetic_s32.c -- ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, int32 without scales, with
 * broadcasting. What does not fit wraps; a quotient by 0 is 0.
 */
#include "cg_pairs.h"

/* Towards zero. */
static int32_t quotient(int32_t a, int32_t b)
{
    if (b == -1) {
        return (int32_t)(0u - (uint32_t)a); /* of INT32_MIN it wraps */
    }
    return (b == 0) ? 0 : (a / b);
}

static int32_t result_of(int32_t kind, int32_t a, int32_t b)
{
    const uint32_t difference = (uint32_t)a - (uint32_t)b;
    switch (kind) {
    case 0:
        return cg_wrapping_add(a, b);
    case 1:
        return (int32_t)difference;
    case 2:
        return (int32_t)((uint32_t)a * (uint32_t)b);
    case 3:
        return quotient(a, b);
    default:
        return (int32_t)(difference * difference);
    }
}

static void arithmetic_row(const cg_arithmetic_params *p, const cg_s32 *lhs, int32_t lhs_step,
                           const cg_s32 *rhs, int32_t rhs_step, cg_s32 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *output++ = cg_clamp_s32(result_of(p->kind, *lhs, *rhs), p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_arithmetic_s32, arithmetic_row, cg_arithmetic_params, cg_s32)
