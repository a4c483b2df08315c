/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gru_f32.c -- a sequence through a layer of GRU units, float32.
 */
#include "cg_gated_parts.h"

#define GATES 3

/* Updates and fresh states of all units from the hidden state. */
static void all_gates(const cg_gated_params *p, const float *weights, const float *recurrent,
                      const float *bias, const cg_f32 *x, const cg_f32 *hidden, cg_f32 *update)
{
    const int32_t units = p->units;
    cg_f32 *const fresh = &update[units];
    cg_f32 *const kept = &fresh[units]; /* the hidden state behind the reset */
    for (int32_t unit = 0; unit < units; unit++) {
        float given[GATES] = {bias[0], bias[1], bias[2]};
        float held[GATES] = {0.0f, 0.0f, bias[3]};
        cg_gated_sums(given, GATES, x, p->inputs, &weights[unit * p->inputs * GATES]);
        cg_gated_sums(held, GATES, hidden, units, &recurrent[unit * units * GATES]);
        update[unit] = cg_gated(p, 0, given[0] + held[0]);
        const float reset = cg_gated(p, 0, given[1] + held[1]);
        if (p->linear_before_reset != 0) {
            fresh[unit] = cg_gated(p, 1, given[2] + (reset * held[2]));
        } else {
            fresh[unit] = given[2] + bias[3];
            kept[unit] = reset * hidden[unit];
        }
        bias += GATES + 1;
    }
    for (int32_t unit = 0; (unit < units) && (p->linear_before_reset == 0); unit++) {
        float sum = fresh[unit];
        const float *w = &recurrent[(unit * units * GATES) + 2];
        for (int32_t i = 0; i < units; i++) {
            sum += kept[i] * w[i * GATES];
        }
        fresh[unit] = cg_gated(p, 1, sum);
    }
}

void cg_gru_f32(const cg_gated_params *params, const float *weights, const float *recurrent,
                const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                const cg_s32 *lengths, void *gates, cg_f32 *output)
{
    const int32_t units = params->units;
    const int32_t row_elements = params->batches * units;
    cg_f32 *const update = (cg_f32 *)gates;
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
            all_gates(params, weights, recurrent, bias, &sequence[row * params->inputs], hidden,
                      update);
            for (int32_t unit = 0; unit < units; unit++) {
                const float share = update[unit];
                hidden[unit] = ((1.0f - share) * update[units + unit]) + (share * hidden[unit]);
                results[unit] = hidden[unit];
            }
        }
    }
}
