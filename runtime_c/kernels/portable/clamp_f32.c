/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clamp_f32.c -- RELU and RELU6, float32.
 */
#include "cg_kernel_parts.h"

void cg_clamp_f32(float low, float high, const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_clamp_one_f32(input[i], low, high);
    }
}
