/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_sigmoid_f32.h -- sigmoid and tanh of one float. Included by kernels only.
 */
#ifndef CG_SIGMOID_F32_H
#define CG_SIGMOID_F32_H

#include "cg_exp_f32.h"

/* Relative error below 4e-7 where the result is above 1e-37. */
static inline float cg_sigmoid_f32(float x)
{
    /* exp() of the negative side only: no overflow, and small results keep their digits */
    const float small = cg_exp_f32((x < 0.0f) ? x : -x);
    return ((x < 0.0f) ? small : 1.0f) / (1.0f + small);
}

/* Relative error below 4e-7. */
static inline float cg_tanh_one_f32(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (size < 0.625f) {
        /* Lambert's continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))), cut after 9: near
         * zero 1 - 2 / (exp(2x) + 1) would lose digits. Truncation error below 1e-9. */
        const float x2 = x * x;
        const float top = x * (945.0f + (x2 * (105.0f + x2)));
        return top / (945.0f + (x2 * (420.0f + (x2 * 15.0f))));
    }
    const float far = 1.0f - (2.0f / (cg_exp_f32(2.0f * size) + 1.0f));
    return (x < 0.0f) ? -far : far;
}

#endif /* CG_SIGMOID_F32_H */
