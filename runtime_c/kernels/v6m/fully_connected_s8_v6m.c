/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s8_v6m.c -- one row of inputs times a weight matrix, int8, ARMv6-M.
 */
#include "cg_needs_v6m.h"

#include "cg_conv_v6m_parts.h"

#define GROUP         4
#define NUMBERS       4 /* words of an output */
#define LOW_BITS      13
#define FRACTION_BITS 24

/* `sum` requantized as cg_conv_weights_v6m says. */
static int32_t requantize(const cg_tile_v6m *tile, int32_t sum, const int32_t *numbers)
{
    const uint32_t x = (uint32_t)sum;
    const uint32_t limit_low = (uint32_t)numbers[0];
    const int32_t kink = numbers[3];
    if (kink < 0) {
        int32_t result = sum;
        cg_requantize_s8_v6m(tile, &result, numbers[1], limit_low | (1u << 8));
        return result;
    }
    if (x > (limit_low >> LOW_BITS)) {
        return (sum < 0) ? tile->act_min : tile->act_max;
    }
    const uint32_t low = limit_low & ((1u << LOW_BITS) - 1u);
    const uint32_t product = (x * (uint32_t)numbers[1]) + ((x * low) >> LOW_BITS);
    const int32_t y = (int32_t)(product + (uint32_t)numbers[2]);
    return ((y < tile->middle) ? (y - kink) : y) >> FRACTION_BITS;
}

void cg_fully_connected_s8_v6m(const cg_fc_params *params, const cg_fc_weights_v6m *weights,
                               const int8_t *input, int8_t *output)
{
    const cg_tile_v6m tile = {
        .middle = weights->middle,
        .act_min = params->act_min,
        .act_max = params->act_max,
        .out_zero = params->out_zero,
    };
    const int32_t *stream = weights->stream;
    for (int32_t left = params->out_len; left > 0; left -= GROUP) {
        const int32_t count = (left < GROUP) ? left : GROUP;
        int32_t sums[GROUP];
        stream = cg_fc_sums_v6m(input, stream, params->in_len, sums);
        for (int32_t i = 0; i < count; i++) {
            *output++ = (int8_t)requantize(&tile, sums[i], &stream[NUMBERS * i]);
        }
        stream += GROUP * NUMBERS;
    }
}
