/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_f32.c -- FLOOR, float32: the largest whole number not above x.
 */
#include "cg_kernel_parts.h"
#include "cg_whole_f32.h"

void cg_floor_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_floor_one_f32(input[i]);
    }
}
