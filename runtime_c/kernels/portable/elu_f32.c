/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elu_f32.c -- ELU, float32: x, below 0 exp(x) - 1; relative error below 6e-7.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"

static float elu_one(float x)
{
    if (!(x < 0.0f)) {
        return x;
    }
    if (x < -0.35f) {
        return cg_exp_f32(x) - 1.0f;
    }
    /* Near zero the difference would lose digits: Taylor's series, the first term left out is below
     * 0.35^7 / 8! = 2e-8 of the result. */
    float series = 1.0f + (x * (1.0f / 7.0f));
    series = 1.0f + ((x * (1.0f / 6.0f)) * series);
    series = 1.0f + ((x * (1.0f / 5.0f)) * series);
    series = 1.0f + ((x * (1.0f / 4.0f)) * series);
    series = 1.0f + ((x * (1.0f / 3.0f)) * series);
    series = 1.0f + ((x * (1.0f / 2.0f)) * series);
    return x * series;
}

void cg_elu_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = elu_one(input[i]);
    }
}
