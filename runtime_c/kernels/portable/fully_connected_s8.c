/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s8.c -- rows of inputs times a weight matrix, int8, portable.
 * The input's zero point is folded into the bias.
 */
#include "cg_kernel_parts.h"

void cg_fully_connected_s8(const cg_fc_params *params, const cg_conv_weights *weights,
                           const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const int8_t *w = weights->weight;
        const int32_t *multiplier = weights->multiplier;
        const int8_t *shift = weights->shift;
        for (int32_t o = 0; o < params->out_len; o++) {
            const uint32_t sum = cg_dot_s8((uint32_t)weights->bias[o], input, w, params->in_len);
            *output++ = cg_store_s8((int32_t)sum, *multiplier, *shift, params->out_zero,
                                    params->act_min, params->act_max);
            w += params->in_len;
            multiplier += weights->scale_step;
            shift += weights->scale_step;
        }
        input += params->in_len;
    }
}
