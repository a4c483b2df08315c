/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_s8.c -- a sequence through a layer of LSTM units, int8, cell states int16, bit-equal to
 * tflite-micro. Sigmoid and tanh are one table, interpolated.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

#define GATES 4

static int32_t store_s16(int32_t x, cg_scaling by)
{
    return cg_clamp_s32(cg_requantize(x, by.multiplier, by.shift), -32768, 32767);
}

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
        w += GATES;
    }
    sums[0] = (int32_t)a;
    sums[1] = (int32_t)b;
    sums[2] = (int32_t)c;
    sums[3] = (int32_t)d;
    return w;
}

/* The table between two places that are 2^bits apart, for a magnitude; `end` behind the table. */
static int32_t interpolated(const uint16_t *table, int32_t magnitude, int32_t bits, int32_t end)
{
    const int32_t place = magnitude >> bits;
    if (place >= 255) {
        return end;
    }
    const int32_t low = table[place];
    const int32_t rest = magnitude & ((1 << bits) - 1);
    return (low << bits) + (rest * ((int32_t)table[place + 1] - low));
}

/* x in units of 2^-12, the result in 2^-15. */
static int32_t sigmoid(const uint16_t *table, int32_t x)
{
    const int32_t scaled = 3 * x;
    const int32_t half = 1 << 9;
    if (scaled >= 0) {
        return (interpolated(table, scaled, 9, 0x7FFF << 10) + half) >> 10;
    }
    return ((1 << 25) - interpolated(table, -scaled, 9, 0x7FFF << 10) + half - 1) >> 10;
}

/* scaled in units of 2^-12 / 3, the result in 2^-15. */
static int32_t hyperbolic_tangent(const uint16_t *table, int32_t scaled)
{
    const int32_t one = 1 << 23;
    const int32_t half = 1 << 7;
    if (scaled >= 0) {
        return (interpolated(table, scaled, 8, 0xFFFF << 8) - one + half) >> 8;
    }
    return (one - interpolated(table, -scaled, 8, 0xFFFF << 8) + half - 1) >> 8;
}

static void all_gates(const cg_lstm_params *p, const uint16_t *table, const int8_t *weights,
                      const int8_t *recurrent, const int32_t *bias, const int8_t *x,
                      const int8_t *hidden, cg_s16 *gates)
{
    for (int32_t unit = 0; unit < p->units; unit++) {
        int32_t first[GATES];
        int32_t second[GATES];
        for (int32_t gate = 0; gate < GATES; gate++) {
            first[gate] = bias[gate];
            second[gate] = bias[GATES + gate];
        }
        bias += 2 * GATES;
        weights = gate_sums(first, x, p->inputs, weights);
        recurrent = gate_sums(second, hidden, p->units, recurrent);
        for (int32_t gate = 0; gate < GATES; gate++) {
            const int32_t sum = cg_clamp_s32(store_s16(first[gate], p->input[gate]) +
                                                 store_s16(second[gate], p->recurrent[gate]),
                                             -32768, 32767);
            gates[gate] =
                (int16_t)((gate == 2) ? hyperbolic_tangent(table, 3 * sum) : sigmoid(table, sum));
        }
        gates += GATES;
    }
}

/* One step of one batch: cell and hidden states become the next ones. */
static void step(const cg_lstm_params *p, const uint16_t *table, const cg_s16 *gates, cg_s16 *cell,
                 int8_t *hidden)
{
    const int32_t round = (p->tanh_shift > 0) ? (1 << (p->tanh_shift - 1)) : 0;
    for (int32_t unit = 0; unit < p->units; unit++) {
        const int32_t kept = store_s16(gates[1] * cell[unit], p->forget);
        const int32_t added = store_s16(gates[0] * gates[2], p->update);
        int32_t sum = cg_clamp_s32(kept + added, -32768, 32767);
        if (p->clip < 32767) {
            sum = cg_clamp_s32(sum, -p->clip, p->clip);
        }
        cell[unit] = (int16_t)sum;
        const int32_t scaled = ((sum * p->tanh_multiplier) + round) >> p->tanh_shift;
        hidden[unit] =
            cg_store_s8(hyperbolic_tangent(table, scaled) * gates[3], p->hidden.multiplier,
                        p->hidden.shift, p->hidden_zero, -128, 127);
        gates += GATES;
    }
}

void cg_lstm_s8(const cg_lstm_params *params, const uint16_t *sigmoids, const int8_t *weights,
                const int8_t *recurrent, const int32_t *bias, const int8_t *sequence,
                const int8_t *state, void *gates, int8_t *output)
{
    const int32_t units = params->units;
    const int32_t states = params->batches * units;
    for (int32_t i = 0; i < 3 * states; i++) {
        output[i] = state[i];
    }
    int8_t *const results = &output[3 * states];
    for (int32_t batch = 0; batch < params->batches; batch++) {
        cg_s16 *const cell = &((cg_s16 *)(void *)output)[batch * units];
        int8_t *const hidden = &output[(2 * states) + (batch * units)];
        for (int32_t time = 0; time < params->steps; time++) {
            const int32_t row = (time * params->step_rows) + (batch * params->batch_rows);
            all_gates(params, sigmoids, weights, recurrent, bias, &sequence[row * params->inputs],
                      hidden, (cg_s16 *)gates);
            step(params, sigmoids, (const cg_s16 *)gates, cell, hidden);
            for (int32_t unit = 0; unit < units; unit++) {
                results[(row * units) + unit] = hidden[unit];
            }
        }
    }
}
