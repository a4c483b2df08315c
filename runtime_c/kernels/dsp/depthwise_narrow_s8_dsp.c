/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_narrow_s8_dsp.c -- depthwise convolution, int8, DSP extension, nine taps, int8 weights:
 * as depthwise_taps_s8_dsp.c, with 18 bytes of constants a channel instead of 30.
 * The inner loop is in depthwise_narrow_parts_dsp.S.
 */
#include "cg_needs_dsp.h"

#include "cg_depthwise_taps_parts.h"

void cg_depthwise_narrow_s8_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                    int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    cg_tap_row self; /* an initialiser would clear all of its taps */
    cg_begin_tap_row(&self, params, input, y);
    for (int32_t x = x_start; x < x_stop; x += self.taps.pixels) {
        cg_find_run(&self, x, x_stop);
        cg_dw_narrow9_words_dsp(&self.taps, params->weights, output);
        output += self.taps.pixels * params->window.in.c;
    }
}

void cg_depthwise_narrow_s8_dsp(const cg_dw_taps_params *params, const int8_t *input,
                                int8_t *output)
{
    const cg_window *const window = &params->window;
    cg_rows rows = cg_all_rows(&window->in, input);
    for (int32_t left = window->batch; left > 0; left--) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_depthwise_narrow_s8_dsp_row(params, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        rows.base += rows.ring_rows * rows.row_bytes;
    }
}
