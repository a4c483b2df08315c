/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gelu_f32.c -- GELU, float32. Where the result is not tiny its relative error is below 2e-6.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"
#include "cg_sigmoid_f32.h"

/*
 * erfc(z) for z >= 0: log(erfc(z) * exp(z^2) / t) with t = 1 / (1 + 0.4 z) is a smooth function of
 * t. The polynomial is our fit in Chebyshev's points for z from 0 to 10: within 1.2e-7.
 */
static float erfc_one(float z)
{
    static const float terms[9] = {
        -1.48874628f, 1.00231005f,  0.39533294f, 0.31797804f,  -0.48511968f,
        1.05971852f,  -1.53893885f, 0.95018697f, -0.21272181f,
    };
    const float t = 1.0f / (1.0f + (0.4f * z));
    float series = terms[8];
    for (int32_t i = 7; i >= 0; i--) {
        series = terms[i] + (t * series);
    }
    return t * cg_exp_f32(series - (z * z));
}

static float share(float x, int32_t by_tanh)
{
    if (by_tanh != 0) {
        const float inner = 0.7978845608f * (x + (((0.044715f * x) * x) * x));
        return 1.0f + cg_tanh_one_f32(inner);
    }
    const float half = 0.7071067812f * x;
    return (x < 0.0f) ? erfc_one(-half) : (2.0f - erfc_one(half));
}

void cg_gelu_f32(int32_t by_tanh, const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (0.5f * input[i]) * share(input[i], by_tanh);
    }
}
