/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logistic_f32.c -- LOGISTIC, float32; relative error below 4e-7 where the result is above 1e-37.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"

void cg_logistic_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const float x = input[i];
        /* exp() of the negative side only: no overflow, and small results keep their digits */
        const float small = cg_exp_f32((x < 0.0f) ? x : -x);
        output[i] = ((x < 0.0f) ? small : 1.0f) / (1.0f + small);
    }
}
