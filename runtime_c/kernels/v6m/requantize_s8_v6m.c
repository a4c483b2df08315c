/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_v6m.c -- requantizing in all cases: channels for which no short way is exact.
 */
#include "cg_needs_v6m.h"

#include "cg_conv_v6m_parts.h"
#include "cg_fixed_point.h"

void cg_requantize_s8_v6m(const cg_tile_v6m *tile, int32_t *sums, int32_t multiplier,
                          uint32_t shift)
{
    const int32_t power = cg_power_of(shift);
    const int32_t count = (int32_t)(shift >> 8);
    for (int32_t i = 0; i < count; i++) {
        const int32_t scaled = cg_requantize(sums[i], multiplier, power);
        sums[i] =
            cg_clamp_s32(cg_wrapping_add(scaled, tile->out_zero), tile->act_min, tile->act_max);
    }
}
