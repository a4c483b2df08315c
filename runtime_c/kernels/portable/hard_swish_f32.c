/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hard_swish_f32.c -- HARD_SWISH, float32: x * min(max(x + 3, 0), 6) / 6.
 */
#include "cg_kernel_parts.h"

void cg_hard_swish_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (input[i] * cg_clamp_one_f32(input[i] + 3.0f, 0.0f, 6.0f)) / 6.0f;
    }
}
