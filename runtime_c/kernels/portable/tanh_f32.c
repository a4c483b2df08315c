/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tanh_f32.c -- TANH, float32; relative error below 4e-7.
 */
#include "cg_kernel_parts.h"
#include "cg_sigmoid_f32.h"

void cg_tanh_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_tanh_one_f32(input[i]);
    }
}
