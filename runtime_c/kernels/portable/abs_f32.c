/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abs_f32.c -- ABS, float32: |x|.
 */
#include "cg_kernel_parts.h"

void cg_abs_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (input[i] < 0.0f) ? -input[i] : input[i];
    }
}
