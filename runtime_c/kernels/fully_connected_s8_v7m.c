/*
 * fully_connected_s8_v7m.c -- one row of inputs times a weight matrix, int8, ARMv7-M: outputs by
 * groups, whose sums fully_connected_groups_s8_v7m.S makes.
 */
#include "cg_fixed_point.h"
#include "cg_v7m_parts.h"

#define MOST 8

/* The short way, see cg_v7m_parts.h: one SMLAL. */
static int32_t short_result(int32_t sum, const int32_t *words)
{
    const int32_t sign = sum >> 31;
    const int64_t low = (int64_t)(uint32_t)(0x3FFFFFFF ^ sign);
    const int64_t start = ((int64_t)(words[1] + sign) * ((int64_t)1 << 32)) + low;
    const int32_t high = (int32_t)((start + ((int64_t)sum * words[0])) >> 32);
    return cg_clamp_s32(high >> (words[2] & 0x1F), -128, 127);
}

static void finish(const cg_fc_params_v7m *params, const int32_t *words, int32_t *sums,
                   int8_t *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (((uint32_t)words[2] & CG_LONG_V7M) != 0u) {
            const uint32_t shift = (uint32_t)words[2] & 0xFFu;
            cg_requantize_s8_v7m(&params->range, &sums[i], words[0], shift | (1u << 8));
        } else {
            sums[i] = short_result(sums[i], words);
        }
        output[i] = (int8_t)sums[i];
        words += 3;
    }
}

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
        finish(params, &channels[count], sums, output, count);
        weights += count * length;
        channels += 4 * count;
        output += count;
    }
}
