/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_fully_connected_s8.c -- fully_connected_s8.c with sums that are rounded as ONNX does.
 */
#include "cg_kernels_qlinear.h"
#include "cg_round_even.h"

void cg_qlinear_fully_connected_s8(const cg_fc_params *params, const cg_conv_weights *weights,
                                   const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const int8_t *w = weights->weight;
        for (int32_t o = 0; o < params->out_len; o++) {
            const uint32_t sum = cg_dot_s8((uint32_t)weights->bias[o], input, w, params->in_len);
            *output++ = cg_store_even_s8((int32_t)sum, weights->multiplier[o], weights->shift[o],
                                         params->out_zero, params->act_min, params->act_max);
            w += params->in_len;
        }
        input += params->in_len;
    }
}
