/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_exp_fixed.h -- exp() of int8 kernels in fixed point, exact to gemmlowp's.
 */
#ifndef CG_EXP_FIXED_H
#define CG_EXP_FIXED_H

#include "cg_fixed_point.h"

#define CG_EXP_FRACTION_BITS 26 /* of arguments, Q5.26 */

/* exp(a) for a in [-1/4, 0), Q0.31: Taylor's series around -1/8. */
static inline int32_t cg_exp_quarter(int32_t a)
{
    const int32_t exp_minus_eighth = 1895147668;
    const int32_t third = 715827883;
    const int32_t x = a + (1 << 28);
    const int32_t x2 = cg_high_mul(x, x);
    const int32_t x3 = cg_high_mul(x2, x);
    const int32_t x4_over_4 = cg_rounding_shift_right(cg_high_mul(x2, x2), 2);
    const int32_t tail = cg_rounding_shift_right(cg_high_mul(x4_over_4 + x3, third) + x2, 1);
    return exp_minus_eighth + cg_high_mul(exp_minus_eighth, x + tail);
}

/* exp(a) for a <= 0 in Q5.26, result Q0.31. */
static __attribute__((noinline)) int32_t cg_exp_negative(int32_t a)
{
    /* exp(-1/4), exp(-1/2), exp(-1), ... exp(-16) in Q0.31 */
    static const int32_t factors[7] = {
        1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242,
    };
    const int32_t quarter = 1 << (CG_EXP_FRACTION_BITS - 2);
    if (a == 0) {
        return CG_S32_MAX;
    }
    const int32_t part = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
    const int32_t rest = part - a;                      /* a multiple of 1/4 */
    int32_t result = cg_exp_quarter((int32_t)((uint32_t)part << 5));
    for (int32_t bit = 0; bit < 7; bit++) {
        if ((rest & (quarter << bit)) != 0) {
            result = cg_high_mul(result, factors[bit]);
        }
    }
    return result;
}

#endif /* CG_EXP_FIXED_H */
