/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_s16.c -- softmax over the last axis, int16, by tables, bit-equal to TFLite.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

/* The table at `value`, saturated, between two of its 513 numbers. */
static int32_t looked_up(const int16_t *table, int32_t value)
{
    const int32_t stored = cg_clamp_s32(value, -32768, 32767);
    const int16_t *const place = &table[256 + (stored >> 7)];
    const int32_t slope = (int32_t)place[1] - place[0];
    return place[0] + (((slope * (stored & 127)) + 64) >> 7);
}

static void softmax_row(const cg_softmax_s16_params *params, const int16_t *exponentials,
                        const int16_t *reciprocals, const cg_s16 *input, cg_s16 *output)
{
    int32_t largest = -32768;
    for (int32_t i = 0; i < params->depth; i++) {
        largest = (input[i] > largest) ? input[i] : largest;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < params->depth; i++) {
        const int32_t scaled = cg_requantize(input[i] - largest, params->multiplier, params->shift);
        const int32_t power = looked_up(exponentials, scaled + 32767);
        output[i] = (int16_t)power;
        sum += power;
    }
    /* The largest element adds 32767 and there are at most 65535: 1 <= headroom <= 17. */
    const int32_t headroom = cg_leading_zeros((uint32_t)sum);
    const uint32_t mantissa = (((uint32_t)sum << (headroom - 1)) + (1u << 13)) >> 14;
    const int32_t reciprocal = looked_up(reciprocals, (int32_t)mantissa - 98304);
    const int32_t shift = 31 - headroom;
    for (int32_t i = 0; i < params->depth; i++) {
        const int32_t product = (output[i] * reciprocal) + (1 << (shift - 1));
        output[i] = (int16_t)cg_clamp_s32(product >> shift, 0, 32767);
    }
}

void cg_softmax_s16(const cg_softmax_s16_params *params, const int16_t *exponentials,
                    const int16_t *reciprocals, const cg_s16 *input, cg_s16 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        softmax_row(params, exponentials, reciprocals, input, output);
        input += params->depth;
        output += params->depth;
    }
}
