/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_dsp.c -- requantizing in all cases: shifts left, no shift, narrow activations.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"
#include "cg_fixed_point.h"

void cg_requantize_s8_dsp(const cg_tile_dsp *tile, int32_t *sums, uint32_t doubled_multiplier,
                          uint32_t shift)
{
    const int32_t power = cg_power_of(shift);
    const int32_t count = (int32_t)(shift >> 8);
    const int32_t multiplier = (int32_t)(doubled_multiplier >> 1);
    for (int32_t i = 0; i < count; i++) {
        const int32_t scaled = cg_requantize(sums[i], multiplier, power);
        sums[i] =
            cg_clamp_s32(cg_wrapping_add(scaled, tile->out_zero), tile->act_min, tile->act_max);
    }
}
