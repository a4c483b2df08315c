/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_s16.c -- int8 to int16 of another scale.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

void cg_requantize_s8_s16(const cg_requantize_params *params, const int8_t *input, cg_s16 *output)
{
    for (int32_t i = 0; i < params->count; i++) {
        const int32_t scaled =
            cg_requantize(input[i] - params->in_zero, params->multiplier, params->shift);
        const int32_t stored = cg_wrapping_add(scaled, params->out_zero);
        output[i] = (int16_t)cg_clamp_s32(stored, -32768, 32767);
    }
}
