/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_f32.c -- LOG, float32: natural logarithm; relative error below 4e-7, absolute near 1 below
 * 1e-7.
 */
#include "cg_kernel_parts.h"
#include "cg_log_f32.h"

void cg_log_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_log_one_f32(input[i]);
    }
}
