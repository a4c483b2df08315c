/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neg_f32.c -- NEG, float32.
 */
#include "cg_kernel_parts.h"

void cg_neg_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = -input[i];
    }
}
