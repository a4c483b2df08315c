/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_s8_dsp.c -- a sequence through a layer of LSTM units, int8, DSP extension.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"
#include "cg_lstm_dsp.h"

/* lstm_step_s8_dsp.S knows these offsets. */
typedef struct {
    const int32_t *pixels; /* the row of the sequence, widened, behind it the hidden state */
    int32_t input_groups;
    int32_t groups; /* of both */
    const int32_t *sigmoids;
    const cg_lstm_scales_dsp *sequence; /* what follows it in the parameters is read too */
    cg_s16 *cell;
    int8_t *hidden; /* the next one; not what was widened */
    int32_t units;
} cg_lstm_step_dsp;

void cg_lstm_step_s8_dsp(const cg_lstm_step_dsp *step, const int32_t *stream);

static void copy_bytes(const int8_t *from, int8_t *to, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

void cg_lstm_s8_dsp(const cg_lstm_params_dsp *params, const int32_t *sigmoids,
                    const int32_t *stream, const int8_t *sequence, const int8_t *state,
                    void *workspace, int8_t *output)
{
    const int32_t units = params->units;
    const int32_t states = params->batches * units;
    const int32_t input_groups = (params->inputs + 3) / 4;
    int32_t *const pixels = (int32_t *)workspace;
    int8_t *const results = &output[3 * states];
    copy_bytes(state, output, 3 * states);
    for (int32_t batch = 0; batch < params->batches; batch++) {
        int8_t *const kept = &output[(2 * states) + (batch * units)];
        const int8_t *hidden = kept;
        cg_lstm_step_dsp step = {
            .pixels = pixels,
            .input_groups = input_groups,
            .groups = input_groups + ((units + 3) / 4),
            .sigmoids = sigmoids,
            .sequence = &params->sequence,
            .cell = &((cg_s16 *)(void *)output)[batch * units],
            .units = units,
        };
        for (int32_t time = 0; time < params->steps; time++) {
            const int32_t row = (time * params->step_rows) + (batch * params->batch_rows);
            cg_widen_row_dsp(&sequence[row * params->inputs], params->inputs, pixels);
            cg_widen_row_dsp(hidden, units, &pixels[2 * input_groups]);
            step.hidden = &results[row * units];
            cg_lstm_step_s8_dsp(&step, stream);
            hidden = step.hidden;
        }
        copy_bytes(hidden, kept, units);
    }
}
