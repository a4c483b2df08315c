/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_f32w16.c -- fully_connected_f32.c by weights that lie as float16.
 */
#include "cg_half.h"
#include "cg_kernel_parts.h"

void cg_fully_connected_f32w16(const cg_fc_params_f32 *params,
                               const cg_conv_weights_f32w16 *weights, const cg_f32 *input,
                               cg_f32 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const uint16_t *w = weights->weight;
        for (int32_t o = 0; o < params->out_len; o++) {
            const float sum = cg_dot_f32w16(0.0f, input, w, params->in_len) + weights->bias[o];
            *output++ = cg_clamp_one_f32(sum, params->act_min, params->act_max);
            w += params->in_len;
        }
        input += params->in_len;
    }
}
