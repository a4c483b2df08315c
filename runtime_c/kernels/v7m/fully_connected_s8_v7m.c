/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s8_v7m.c -- one row of inputs times a weight matrix, int8, ARMv7-M: outputs by
 * groups, which fully_connected_groups_s8_v7m.S computes.
 */
#include "cg_needs_v7m.h"

#include "cg_v7m_parts.h"

#define MOST 8

void cg_fully_connected_s8_v7m(const cg_fc_params_v7m *params, const int8_t *input, int8_t *output)
{
    const int32_t length = params->in_len;
    const int8_t *weights = params->weights;
    const int32_t *channels = params->channels;
    int32_t count;
    for (int32_t left = params->out_len; left > 0; left -= count) {
        int32_t sums[MOST];
        count = (left >= MOST) ? MOST : ((left >= 4) ? 4 : 1);
        for (int32_t i = 0; i < count; i++) {
            sums[i] = channels[i];
        }
        if (count == MOST) {
            cg_fc_group8_s8_v7m(input, length, weights, sums);
        } else if (count == 4) {
            cg_fc_group4_s8_v7m(input, length, weights, sums);
        } else {
            cg_fc_group1_s8_v7m(input, length, weights, sums);
        }
        cg_fc_finish_s8_v7m(&channels[count], sums, output, count, &params->range);
        weights += count * length;
        channels += 4 * count;
        output += count;
    }
}
