/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaky_relu_f32.c -- LEAKY_RELU, float32.
 */
#include "cg_kernel_parts.h"

void cg_leaky_relu_f32(float alpha, const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const float x = input[i];
        output[i] = (x > 0.0f) ? x : (x * alpha);
    }
}
