/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_s32.c -- quotients rounded down and what they leave, int32 without scales, with
 * broadcasting. INT32_MIN / -1 wraps; both are 0 by a divisor of 0.
 */
#include "cg_pairs.h"

static int32_t quotient_of(int32_t a, int32_t b)
{
    if (b == -1) {
        return (int32_t)(0u - (uint32_t)a);
    }
    const int32_t towards_zero = a / b;
    const bool is_cut = (towards_zero * b) != a;
    return (is_cut && ((a < 0) != (b < 0))) ? (towards_zero - 1) : towards_zero;
}

static void floor_row(const cg_pair_params *p, const cg_s32 *lhs, int32_t lhs_step,
                      const cg_s32 *rhs, int32_t rhs_step, cg_s32 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = *lhs;
        const int32_t b = *rhs;
        const int32_t quotient = (b == 0) ? 0 : quotient_of(a, b);
        const uint32_t rest = (uint32_t)a - ((uint32_t)quotient * (uint32_t)b);
        *output++ = (p->kind == 0) ? quotient : ((b == 0) ? 0 : (int32_t)rest);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_floor_s32, floor_row, cg_pair_params, cg_s32)
