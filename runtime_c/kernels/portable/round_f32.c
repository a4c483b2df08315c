/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_f32.c -- ROUND, float32: the nearest whole number, halves to even.
 */
#include "cg_kernel_parts.h"
#include "cg_whole_f32.h"

void cg_round_f32(const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_round_one_f32(input[i]);
    }
}
