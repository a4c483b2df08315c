/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s16.c -- rows of int16 inputs times an int8 weight matrix, portable.
 */
#include "cg_conv_s16.h"

void cg_fully_connected_s16(const cg_fc_params *params, const cg_conv_weights_s16 *weights,
                            const cg_s16 *input, cg_s16 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const int8_t *w = weights->weight;
        for (int32_t o = 0; o < params->out_len; o++) {
            const int64_t sum = cg_dot_s16(0, input, w, params->in_len);
            *output++ = cg_finish_s16(weights, o, sum, params->act_min, params->act_max);
            w += params->in_len;
        }
        input += params->in_len;
    }
}
