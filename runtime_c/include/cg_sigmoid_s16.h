/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_sigmoid_s16.h -- sigmoid and tanh on int16: one table, interpolated, bit-equal to TFLite.
 * Included by kernels, and by the model of the NPU.
 */
#ifndef CG_SIGMOID_S16_H
#define CG_SIGMOID_S16_H

#include <stdint.h>

/* The table between two places that are 2^bits apart, for a magnitude; `end` behind the table. */
static inline int32_t cg_interpolated(const uint16_t *table, int32_t magnitude, int32_t bits,
                                      int32_t end)
{
    const int32_t place = magnitude >> bits;
    if (place >= 255) {
        return end;
    }
    const int32_t low = table[place];
    const int32_t rest = magnitude & ((1 << bits) - 1);
    return (low << bits) + (rest * ((int32_t)table[place + 1] - low));
}

/* scaled in units of 2^-12 / 3, the result in 2^-15. */
static inline int32_t cg_sigmoid_s16(const uint16_t *table, int32_t scaled)
{
    const int32_t half = 1 << 9;
    if (scaled >= 0) {
        return (cg_interpolated(table, scaled, 9, 0x7FFF << 10) + half) >> 10;
    }
    return ((1 << 25) - cg_interpolated(table, -scaled, 9, 0x7FFF << 10) + half - 1) >> 10;
}

/* The hyperbolic tangent, from the table of cg_sigmoid_s16. */
static inline int32_t cg_tanh_s16(const uint16_t *table, int32_t scaled)
{
    const int32_t one = 1 << 23;
    const int32_t half = 1 << 7;
    if (scaled >= 0) {
        return (cg_interpolated(table, scaled, 8, 0xFFFF << 8) - one + half) >> 8;
    }
    return (one - cg_interpolated(table, -scaled, 8, 0xFFFF << 8) + half - 1) >> 8;
}

#endif /* CG_SIGMOID_S16_H */
