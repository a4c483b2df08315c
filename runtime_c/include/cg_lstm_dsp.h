/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_lstm_dsp.h -- UNIDIRECTIONAL_SEQUENCE_LSTM of int8, DSP extension: bit-equal to cg_lstm_s8,
 * where all scales are below one half.
 *
 * The stream, for each unit, first of the sequence, then of the hidden state: four words that the
 * sums begin with; four words for each group of four inputs k0 k1 k2 k3. Gates are a, b and c, d.
 * A word has weights for two inputs in its halves, k0 and k2 of a and b, then of c and d, then the
 * same for k1 and k3. A half is 256 times the weight of the second gate plus that of the first: a
 * sum over halves less the sum over their low bytes is 256 times the sum of the second gate. So
 * SXTB16 unpacks one gate of two, and the other one needs no unpacking. Sums begin with the bias of
 * the first gate, and with that plus 256 times the bias of the second.
 */
#ifndef CG_LSTM_DSP_H
#define CG_LSTM_DSP_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A multiplier m from 2^30 on is held as 2m - 2^32, shifts are to the right, 1 to 31. */
typedef struct {
    int32_t multipliers[4];
    int32_t shifts[4];
} cg_lstm_scales_dsp;

/* Rows, steps, units and zero point as in cg_lstm_params. lstm_step_s8_dsp.S knows the offsets from
 * `sequence` on. */
typedef struct {
    int32_t batches;
    int32_t steps;
    int32_t inputs;
    int32_t units;
    int32_t step_rows;
    int32_t batch_rows;
    cg_lstm_scales_dsp sequence;
    cg_lstm_scales_dsp recurrent;
    int32_t update_multiplier;
    int32_t update_shift;
    int32_t low; /* least and largest cell state */
    int32_t high;
    int32_t tanh_multiplier;
    int32_t tanh_half; /* what rounds the shift */
    int32_t tanh_shift;
    int32_t hidden_multiplier;
    int32_t hidden_shift;
    int32_t hidden_zero;
} cg_lstm_params_dsp;

/*
 * State and output as cg_lstm_s8 has them. `sigmoids`: word i + 256, of -256 <= i < 256, holds the
 * table of cg_lstm_s8 less 2^15, at -i its negative, and above it the difference to the next place.
 * `workspace`: 8 bytes for each group of inputs and of units.
 */
void cg_lstm_s8_dsp(const cg_lstm_params_dsp *params, const int32_t *sigmoids,
                    const int32_t *stream, const int8_t *sequence, const int8_t *state,
                    void *workspace, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_LSTM_DSP_H */
