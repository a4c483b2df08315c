/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tanh_f32.c -- TANH, float32; relative error below 4e-7.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"

static float tanh_one(float x)
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

void cg_tanh_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = tanh_one(input[i]);
    }
}
