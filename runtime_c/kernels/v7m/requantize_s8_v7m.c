/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_v7m.c -- requantizing in all cases: shifts left, no shift, narrow activations,
 * multipliers that are powers of two.
 */
#include "cg_needs_v7m.h"

#include "cg_fixed_point.h"
#include "cg_v7m_parts.h"

void cg_requantize_s8_v7m(const cg_range_v7m *range, int32_t *sums, int32_t multiplier,
                          uint32_t shift)
{
    const int32_t power = cg_power_of(shift);
    const int32_t count = (int32_t)(shift >> 8);
    for (int32_t i = 0; i < count; i++) {
        const int32_t scaled = cg_requantize(sums[i], multiplier, power);
        const int32_t moved = cg_wrapping_add(scaled, range->out_zero);
        sums[i] = cg_clamp_s32(moved, range->act_min, range->act_max);
    }
}
