/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceil_f32.c -- CEIL, float32: the smallest whole number not below x.
 */
#include "cg_kernel_parts.h"
#include "cg_whole_f32.h"

void cg_ceil_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = -cg_floor_one_f32(-input[i]);
    }
}
