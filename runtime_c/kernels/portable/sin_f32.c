/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sin_f32.c -- SIN, float32: as cg_angle_f32.h states it.
 */
#include "cg_angle_f32.h"
#include "cg_kernel_parts.h"

void cg_sin_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_sine_f32(input[i], 0);
    }
}
