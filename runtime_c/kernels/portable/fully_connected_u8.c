/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_u8.c -- fully_connected_s8.c by weights of uint8, which have a zero point. Biases
 * hold the input's zero point; that of the weights counts once a row, times the sum of the inputs.
 */
#include "cg_kernel_parts.h"

static uint32_t sum_of(const int8_t *x, int32_t n)
{
    uint32_t sum = 0;
    for (; n > 0; n--) {
        const int32_t value = *x++;
        sum += (uint32_t)value;
    }
    return sum;
}

void cg_fully_connected_u8(const cg_fc_params *params, const cg_conv_weights_u8 *weights,
                           const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const uint32_t less = sum_of(input, params->in_len) * (uint32_t)weights->weight_zero;
        const int8_t *w = weights->weight;
        const int32_t *multiplier = weights->multiplier;
        const int8_t *shift = weights->shift;
        for (int32_t o = 0; o < params->out_len; o++) {
            const uint32_t start = (uint32_t)weights->bias[o] - less;
            const uint32_t sum = cg_dot_s8(start, input, w, params->in_len);
            *output++ = cg_store_s8((int32_t)sum, *multiplier, *shift, params->out_zero,
                                    params->act_min, params->act_max);
            w += params->in_len;
            multiplier += weights->scale_step;
            shift += weights->scale_step;
        }
        input += params->in_len;
    }
}
