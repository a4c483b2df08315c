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
        cg_gated_sums(given, x, p->inputs, &weights[unit * p->inputs * GATES]);
        cg_gated_sums(held, hidden, units, &recurrent[unit * units * GATES]);
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

static void moment(const cg_gated_params *p, const float *weights, const float *recurrent,
                   const float *bias, const cg_f32 *x, cg_f32 *hidden, cg_f32 *update)
{
    const cg_f32 *const fresh = &update[p->units];
    all_gates(p, weights, recurrent, bias, x, hidden, update);
    for (int32_t unit = 0; unit < p->units; unit++) {
        hidden[unit] = ((1.0f - update[unit]) * fresh[unit]) + (update[unit] * hidden[unit]);
    }
}

CG_DEFINE_GATED(cg_gru_f32)
