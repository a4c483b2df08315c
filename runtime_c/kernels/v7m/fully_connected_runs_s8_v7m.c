/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_runs_s8_v7m.c -- one row of inputs times a weight matrix, int8, ARMv7-M, by the
 * constants of cg_conv2d_s8_v7m: what several rows are computed from does for one row, too.
 */
#include "cg_needs_v7m.h"

#include "cg_fixed_point.h"
#include "cg_v7m_parts.h"

void cg_fully_connected_runs_s8_v7m(const cg_conv_params_v7m *params, const int8_t *input,
                                    int8_t *output)
{
    const int8_t *weights = params->weights;
    const int32_t *channel = params->channels;
    for (int32_t left = params->window.out.c; left > 0; left--) {
        const int8_t *values = input;
        int32_t sum = channel[1]; /* holds 1 for each run */
        int32_t run;
        do {
            int32_t product = (weights[0] * values[0]) + (weights[1] * values[1]) - 1;
            run = weights[2];
            weights += 3;
            values += 2;
            for (int32_t i = run / 2; i > 0; i--) {
                product += (weights[0] * values[0]) + (weights[1] * values[1]);
                weights += 2;
                values += 2;
            }
            sum = cg_wrapping_add(sum, product);
        } while ((run % 2) == 0);
        cg_fc_finish_s8_v7m(&channel[2], &sum, output, 1, &params->range);
        channel += CG_CONV_WORDS_V7M;
        output++;
    }
}
