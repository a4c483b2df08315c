/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_reciprocal.h -- 1 / x in fixed point, three steps of Newton's method, exact to gemmlowp's.
 */
#ifndef CG_RECIPROCAL_H
#define CG_RECIPROCAL_H

#include "cg_fixed_point.h"

/* x * 2^exponent, saturating. */
static inline int32_t cg_shift_left_saturating(int32_t x, int32_t exponent)
{
    const int32_t limit = CG_S32_MAX >> exponent;
    if (x > limit) {
        return CG_S32_MAX;
    }
    if (x < -limit - 1) {
        return CG_S32_MIN;
    }
    return (int32_t)((uint32_t)x << exponent);
}

/* 1 / (1 + a) for a in [0, 1), Q0.31. */
static inline int32_t cg_reciprocal_of_one_plus(int32_t a)
{
    const int32_t two_to_29 = 1 << 29; /* 1 in Q2.29 */
    /* (a + 1) / 2, halves up: a >= 0 and one less than 2^31 stands for 1 */
    const int32_t half = (int32_t)(((uint32_t)a + (uint32_t)CG_S32_MAX + 1u) >> 1);
    int32_t x = 1515870810 + cg_high_mul(half, -1010580540); /* 48/17 - 32/17 half, Q2.29 */
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = two_to_29 - cg_high_mul(half, x);
        x += cg_shift_left_saturating(cg_high_mul(x, error), 2);
    }
    return cg_shift_left_saturating(x, 1);
}

#endif /* CG_RECIPROCAL_H */
