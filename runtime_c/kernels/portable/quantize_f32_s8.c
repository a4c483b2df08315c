/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_f32_s8.c -- float32 to int8.
 */
#include "cg_kernel_parts.h"

/* Nearest integer, halves away from zero; any float, NaN included, has a result. */
static int32_t round_to_s32(float x)
{
    const float limit = 65536.0f; /* far outside int8, and still exact with a fraction of 1/128 */
    if (!(x > -limit)) {
        return -65536;
    }
    if (x > limit) {
        return 65536;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole;
    return whole + ((rest >= 0.5f) ? 1 : 0) - ((rest <= -0.5f) ? 1 : 0);
}

void cg_quantize_f32_s8(const cg_quantize_params *params, const cg_f32 *input, int8_t *output,
                        int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t stored = round_to_s32(input[i] / params->scale) + params->zero;
        output[i] = (int8_t)cg_clamp_s32(stored, -128, 127);
    }
}
