/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exponential_f32.c -- EXP, float32: exp(x), as cg_exp_f32.h states it.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"

void cg_exponential_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_exp_f32(input[i]);
    }
}
