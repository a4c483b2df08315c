/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_lstm_parts.h -- what layers of LSTM units with cell states of int16 share, bit-equal to
 * tflite-micro. Included by kernels only.
 */
#ifndef CG_LSTM_PARTS_H
#define CG_LSTM_PARTS_H

#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"
#include "cg_sigmoid_s16.h"

#define CG_LSTM_GATES 4

static inline int32_t cg_scaled_s16(int32_t x, cg_scaling by)
{
    return cg_clamp_s32(cg_requantize(x, by.multiplier, by.shift), -32768, 32767);
}

/* Value of gate number `gate` from two sums, which are saturated, and so is their total. */
static inline int16_t cg_lstm_gate(const uint16_t *table, int32_t gate, int32_t first,
                                   int32_t second)
{
    const int32_t sum = cg_clamp_s32(first + second, -32768, 32767);
    return (int16_t)((gate == 2) ? cg_tanh_s16(table, 3 * sum) : cg_sigmoid_s16(table, 3 * sum));
}

/* A unit's next cell state, and its hidden state in units of 2^-30. */
static inline int32_t cg_lstm_unit(const cg_lstm_params *p, const uint16_t *table,
                                   const cg_s16 *gates, cg_s16 *cell)
{
    const int32_t round = (p->tanh_shift > 0) ? (1 << (p->tanh_shift - 1)) : 0;
    const int32_t kept = cg_scaled_s16(gates[1] * *cell, p->forget);
    const int32_t added = cg_scaled_s16(gates[0] * gates[2], p->update);
    int32_t sum = cg_clamp_s32(kept + added, -32768, 32767);
    if (p->clip < 32767) {
        sum = cg_clamp_s32(sum, -p->clip, p->clip);
    }
    *cell = (int16_t)sum;
    return cg_tanh_s16(table, ((sum * p->tanh_multiplier) + round) >> p->tanh_shift) * gates[3];
}

/*
 * Defines the function `name` for a sequence of `value`: `all_gates` gives the gates of one step,
 * `store` a hidden state. State: cell states, then hidden states, in elements of `value`.
 */
#define CG_DEFINE_LSTM(name, value, bias_type, all_gates, store)                                   \
    void name(const cg_lstm_params *params, const uint16_t *sigmoids, const int8_t *weights,       \
              const int8_t *recurrent, const bias_type *bias, const value *sequence,               \
              const value *state, void *gates, value *output)                                      \
    {                                                                                              \
        const int32_t units = params->units;                                                       \
        const int32_t states = params->batches * units;                                            \
        const int32_t before = states * (2 / (int32_t)sizeof(value));                              \
        for (int32_t i = 0; i < before + states; i++) {                                            \
            output[i] = state[i];                                                                  \
        }                                                                                          \
        for (int32_t batch = 0; batch < params->batches; batch++) {                                \
            cg_s16 *const cell = &((cg_s16 *)(void *)output)[batch * units];                       \
            value *const hidden = &output[before + (batch * units)];                               \
            for (int32_t time = 0; time < params->steps; time++) {                                 \
                const int32_t row = (time * params->step_rows) + (batch * params->batch_rows);     \
                value *const results = &output[before + states + (row * units)];                   \
                const cg_s16 *gate = (const cg_s16 *)gates;                                        \
                all_gates(params, sigmoids, weights, recurrent, bias,                              \
                          &sequence[row * params->inputs], hidden, (cg_s16 *)gates);               \
                for (int32_t unit = 0; unit < units; unit++) {                                     \
                    hidden[unit] =                                                                 \
                        store(params, cg_lstm_unit(params, sigmoids, gate, &cell[unit]));          \
                    results[unit] = hidden[unit];                                                  \
                    gate += CG_LSTM_GATES;                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#endif /* CG_LSTM_PARTS_H */
