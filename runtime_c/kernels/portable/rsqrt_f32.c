/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsqrt_f32.c -- RSQRT, float32: 1 / sqrt(x), each rounded.
 */
#include "cg_kernel_parts.h"
#include "cg_sqrt_f32.h"

void cg_rsqrt_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = 1.0f / cg_sqrt_one_f32(input[i]);
    }
}
