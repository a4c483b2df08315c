/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_s8.c -- a sequence through a layer of LSTM units, int8, cell states int16.
 */
#include "cg_lstm_parts.h"

/* Sums of the four gates of a unit, whose weights for one input lie side by side. */
static const int8_t *gate_sums(int32_t *sums, const int8_t *x, int32_t n, const int8_t *w)
{
    uint32_t a = (uint32_t)sums[0];
    uint32_t b = (uint32_t)sums[1];
    uint32_t c = (uint32_t)sums[2];
    uint32_t d = (uint32_t)sums[3];
    for (int32_t i = 0; i < n; i++) {
        const int32_t value = x[i];
        a += (uint32_t)(value * w[0]);
        b += (uint32_t)(value * w[1]);
        c += (uint32_t)(value * w[2]);
        d += (uint32_t)(value * w[3]);
        w += CG_LSTM_GATES;
    }
    sums[0] = (int32_t)a;
    sums[1] = (int32_t)b;
    sums[2] = (int32_t)c;
    sums[3] = (int32_t)d;
    return w;
}

static void all_gates(const cg_lstm_params *p, const uint16_t *table, const int8_t *weights,
                      const int8_t *recurrent, const int32_t *bias, const int8_t *x,
                      const int8_t *hidden, cg_s16 *gates)
{
    for (int32_t unit = 0; unit < p->units; unit++) {
        int32_t first[CG_LSTM_GATES];
        int32_t second[CG_LSTM_GATES];
        for (int32_t gate = 0; gate < CG_LSTM_GATES; gate++) {
            first[gate] = bias[gate];
            second[gate] = bias[CG_LSTM_GATES + gate];
        }
        bias += 2 * CG_LSTM_GATES;
        weights = gate_sums(first, x, p->inputs, weights);
        recurrent = gate_sums(second, hidden, p->units, recurrent);
        for (int32_t gate = 0; gate < CG_LSTM_GATES; gate++) {
            gates[gate] = cg_lstm_gate(table, gate, cg_scaled_s16(first[gate], p->input[gate]),
                                       cg_scaled_s16(second[gate], p->recurrent[gate]));
        }
        gates += CG_LSTM_GATES;
    }
}

static int8_t store(const cg_lstm_params *p, int32_t x)
{
    return cg_store_s8(x, p->hidden.multiplier, p->hidden.shift, p->hidden_zero, -128, 127);
}

CG_DEFINE_LSTM(cg_lstm_s8, int8_t, int32_t, all_gates, store)
