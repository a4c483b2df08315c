/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_f32.c -- a sequence through a layer of units of one gate, float32.
 */
#include "cg_gated_parts.h"

void cg_rnn_f32(const cg_gated_params *params, const float *weights, const float *recurrent,
                const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                const cg_s32 *lengths, void *gates, cg_f32 *output)
{
    const int32_t units = params->units;
    const int32_t row_elements = params->batches * units;
    cg_f32 *const fresh = (cg_f32 *)gates;
    for (int32_t i = 0; i < row_elements; i++) {
        output[i] = state[i];
    }
    for (int32_t i = row_elements; i < row_elements * (params->moments + 1); i++) {
        output[i] = 0.0f;
    }
    for (int32_t batch = 0; batch < params->batches; batch++) {
        cg_f32 *const hidden = &output[batch * units];
        for (int32_t time = 0; time < lengths[batch]; time++) {
            const int32_t moment = (params->reverse != 0) ? (lengths[batch] - 1 - time) : time;
            const int32_t row = (moment * params->batches) + batch;
            cg_f32 *const results = &output[row_elements + (row * units)];
            for (int32_t unit = 0; unit < units; unit++) {
                float sum = bias[unit];
                cg_gated_sums(&sum, 1, &sequence[row * params->inputs], params->inputs,
                              &weights[unit * params->inputs]);
                cg_gated_sums(&sum, 1, hidden, units, &recurrent[unit * units]);
                fresh[unit] = cg_gated(params, 0, sum);
            }
            for (int32_t unit = 0; unit < units; unit++) {
                hidden[unit] = fresh[unit];
                results[unit] = fresh[unit];
            }
        }
    }
}
