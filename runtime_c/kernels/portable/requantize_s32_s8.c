/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s32_s8.c -- int32 to int8 of another scale.
 */
#include "cg_kernel_parts.h"

void cg_requantize_s32_s8(const cg_requantize_params *params, const cg_s32 *input, int8_t *output)
{
    for (int32_t i = 0; i < params->count; i++) {
        const int32_t scaled =
            cg_requantize(input[i] - params->in_zero, params->multiplier, params->shift);
        const int32_t stored = cg_wrapping_add(scaled, params->out_zero);
        output[i] = (int8_t)cg_clamp_s32(stored, -128, 127);
    }
}
