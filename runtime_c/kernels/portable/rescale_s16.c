/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rescale_s16.c -- int16 to int16 of another scale, with another factor below 0: RELU, RELU6,
 * LEAKY_RELU, QUANTIZE.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

void cg_rescale_s16(const cg_rescale_s16_params *params, const cg_s16 *input, cg_s16 *output)
{
    for (int32_t i = 0; i < params->count; i++) {
        const int32_t x = input[i];
        const bool below = x < 0;
        output[i] = cg_store_s16(x, below ? params->negative_multiplier : params->multiplier,
                                 below ? params->negative_shift : params->shift, params->act_min,
                                 params->act_max);
    }
}
