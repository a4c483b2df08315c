/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid_fully_connected.c -- rows of float32 times a matrix of int8 weights.
 */
#include "cg_hybrid_parts.h"

void cg_hybrid_fully_connected(const cg_fc_params_f32 *params, const cg_hybrid_weights *weights,
                               const cg_f32 *input, int8_t *image, cg_f32 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const cg_hybrid_scale found =
            cg_hybrid_quantize(input, params->in_len, weights->asymmetric, image);
        const int8_t *w = weights->weight;
        for (int32_t o = 0; o < params->out_len; o++) {
            const uint32_t sum = cg_hybrid_dot(0, image, 1, w, 1, params->in_len, found.zero);
            output[o] =
                cg_hybrid_store(weights, o, sum, found.scale, params->act_min, params->act_max);
            w += params->in_len;
        }
        input += params->in_len;
        output += params->out_len;
    }
}
