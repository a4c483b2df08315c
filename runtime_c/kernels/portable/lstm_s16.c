/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_s16.c -- a sequence through a layer of LSTM units, int16 by int8 weights, sums of 64 bits.
 */
#include "cg_lstm_parts.h"

/* Sums of the four gates of a unit, whose weights for one input lie side by side. */
static const int8_t *gate_sums(int64_t *sums, const cg_s16 *x, int32_t n, const int8_t *w)
{
    int64_t a = 0;
    int64_t b = 0;
    int64_t c = 0;
    int64_t d = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t value = x[i];
        a += value * w[0];
        b += value * w[1];
        c += value * w[2];
        d += value * w[3];
        w += CG_LSTM_GATES;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
    return w;
}

static int32_t scaled(int64_t sum, cg_scaling by)
{
    return cg_clamp_s32(cg_requantize_s64(sum, by.multiplier, by.shift), -32768, 32767);
}

static void all_gates(const cg_lstm_params *p, const uint16_t *table, const int8_t *weights,
                      const int8_t *recurrent, const int64_t *bias, const cg_s16 *x,
                      const cg_s16 *hidden, cg_s16 *gates)
{
    for (int32_t unit = 0; unit < p->units; unit++) {
        int64_t first[CG_LSTM_GATES];
        int64_t second[CG_LSTM_GATES];
        weights = gate_sums(first, x, p->inputs, weights);
        recurrent = gate_sums(second, hidden, p->units, recurrent);
        for (int32_t gate = 0; gate < CG_LSTM_GATES; gate++) {
            gates[gate] =
                cg_lstm_gate(table, gate, scaled(first[gate] + bias[gate], p->input[gate]),
                             scaled(second[gate], p->recurrent[gate]));
        }
        bias += CG_LSTM_GATES;
        gates += CG_LSTM_GATES;
    }
}

static int16_t store(const cg_lstm_params *p, int32_t x)
{
    return cg_store_s16(x, p->hidden.multiplier, p->hidden.shift, -32768, 32767);
}

CG_DEFINE_LSTM(cg_lstm_s16, cg_s16, int64_t, all_gates, store)
