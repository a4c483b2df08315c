/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqrt_f32.c -- SQRT, float32: the square root, exact.
 */
#include "cg_kernel_parts.h"
#include "cg_sqrt_f32.h"

void cg_sqrt_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_sqrt_one_f32(input[i]);
    }
}
