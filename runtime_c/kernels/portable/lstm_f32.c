/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_f32.c -- a sequence through a layer of LSTM units, float32.
 */
#include "cg_kernels_families.h"
#include "cg_sigmoid_f32.h"

#define GATES 4

/* Sums of the four gates of a unit, whose weights for one input lie side by side. */
static const float *gate_sums(float *sums, const cg_f32 *x, int32_t n, const float *w)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t gate = 0; gate < GATES; gate++) {
            sums[gate] += x[i] * w[gate];
        }
        w += GATES;
    }
    return w;
}

static void all_gates(const cg_lstm_params_f32 *p, const float *weights, const float *recurrent,
                      const float *bias, const cg_f32 *x, const cg_f32 *hidden, cg_f32 *gates)
{
    for (int32_t unit = 0; unit < p->units; unit++) {
        float sums[GATES] = {bias[0], bias[1], bias[2], bias[3]};
        weights = gate_sums(sums, x, p->inputs, weights);
        recurrent = gate_sums(sums, hidden, p->units, recurrent);
        for (int32_t gate = 0; gate < GATES; gate++) {
            gates[gate] = (gate == 2) ? cg_tanh_one_f32(sums[gate]) : cg_sigmoid_f32(sums[gate]);
        }
        bias += GATES;
        gates += GATES;
    }
}

void cg_lstm_f32(const cg_lstm_params_f32 *params, const float *weights, const float *recurrent,
                 const float *bias, const cg_f32 *sequence, const cg_f32 *state, void *gates,
                 cg_f32 *output)
{
    const int32_t units = params->units;
    const int32_t states = params->batches * units;
    for (int32_t i = 0; i < 2 * states; i++) {
        output[i] = state[i];
    }
    for (int32_t batch = 0; batch < params->batches; batch++) {
        cg_f32 *const cell = &output[batch * units];
        cg_f32 *const hidden = &output[states + (batch * units)];
        for (int32_t time = 0; time < params->steps; time++) {
            const int32_t row = (time * params->step_rows) + (batch * params->batch_rows);
            cg_f32 *const results = &output[(2 * states) + (row * units)];
            const cg_f32 *gate = (const cg_f32 *)gates;
            all_gates(params, weights, recurrent, bias, &sequence[row * params->inputs], hidden,
                      (cg_f32 *)gates);
            for (int32_t unit = 0; unit < units; unit++) {
                const float next = (gate[1] * cell[unit]) + (gate[0] * gate[2]);
                const float raised = (next < -params->clip) ? -params->clip : next;
                cell[unit] = (raised > params->clip) ? params->clip : raised;
                hidden[unit] = cg_tanh_one_f32(cell[unit]) * gate[3];
                results[unit] = hidden[unit];
                gate += GATES;
            }
        }
    }
}
