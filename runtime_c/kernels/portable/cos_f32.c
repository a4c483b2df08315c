/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cos_f32.c -- COS, float32: as cg_angle_f32.h states it.
 */
#include "cg_angle_f32.h"
#include "cg_kernel_parts.h"

void cg_cos_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_sine_f32(input[i], 1);
    }
}
