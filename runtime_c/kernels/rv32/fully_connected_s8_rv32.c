/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s8_rv32.c -- one row of inputs times a weight matrix, int8, RV32IM: outputs by
 * groups, whose sums fully_connected_groups_s8_rv32.S makes.
 */
#include "cg_needs_rv32.h"

#include "cg_rv32_parts.h"

#define MOST 16

void cg_fully_connected_s8_rv32(const cg_fc_params_rv32 *params, const int8_t *input,
                                int8_t *output)
{
    const int32_t length = params->in_len;
    const cg_range_rv32 range = params->range;
    const int8_t *weights = params->weights;
    const int32_t *channels = params->channels;
    int32_t count;
    for (int32_t left = params->out_len; left > 0; left -= count) {
        int32_t sums[MOST];
        count = (left >= MOST) ? MOST : ((left >= 4) ? 4 : 1);
        if (count == MOST) {
            cg_fc_group16_s8_rv32(input, length, weights, sums);
        } else if (count == 4) {
            cg_fc_group4_s8_rv32(input, length, weights, sums);
        } else {
            cg_fc_group1_s8_rv32(input, length, weights, sums);
        }
        for (int32_t i = 0; i < count; i++) {
            const uint32_t sum2 = (2u * (uint32_t)sums[i]) + (uint32_t)channels[0];
            *output++ = cg_result_rv32((int32_t)sum2, channels, &range);
            channels += CG_CHANNEL_WORDS_RV32;
        }
        weights += count * length;
    }
}
