/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_fully_connected_s16w16.c -- fully_connected_s16.c by int16 weights, with sums that are
 * rounded as ONNX does. The zero point of the rows is in the biases.
 */
#define CG_INT16_WEIGHTS
#include "cg_qlinear_s16.h"

void cg_qlinear_fully_connected_s16w16(const cg_fc_params *params,
                                       const cg_conv_weights_s16w16 *weights, const cg_s16 *input,
                                       cg_s16 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const CG_WEIGHT *w = weights->weight;
        for (int32_t o = 0; o < params->out_len; o++) {
            const int64_t sum = cg_dot_centred(0, input, w, params->in_len, 0);
            *output++ = CG_FINISH(weights, o, sum, params);
            w += params->in_len;
        }
        input += params->in_len;
    }
}
