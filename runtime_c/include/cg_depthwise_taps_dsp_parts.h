/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_taps_dsp_parts.h -- depthwise convolution, int8, DSP extension, any window, int16
 * weights. Included by its kernels only, which give the function DW_TAPS, DW_TAPS_ROW and the inner
 * loops, in assembly, their names: DW_TAPS_LOOP(part) is cg_dw_<part> or its namesake.
 */
#ifndef CG_DEPTHWISE_TAPS_DSP_PARTS_H
#define CG_DEPTHWISE_TAPS_DSP_PARTS_H

#include "cg_depthwise_taps_parts.h"

void DW_TAPS_ROW(const cg_dw_taps_params *params, const cg_rows *input, int8_t *output, int32_t y,
                 int32_t x_start, int32_t x_stop)
{
    cg_tap_row self; /* an initialiser would clear all of its taps */
    cg_begin_tap_row(&self, params, input, y);
    for (int32_t x = x_start; x < x_stop; x += self.taps.pixels) {
        cg_find_run(&self, x, x_stop);
        const bool is_nine = self.taps.count == CG_DW_NINE_TAPS;
        if (self.taps.back == 0) { /* channels by the multiple of four */
            if (is_nine) {
                DW_TAPS_LOOP(taps9_words)(&self.taps, params->weights, output);
            } else {
                DW_TAPS_LOOP(taps_words)(&self.taps, params->weights, output);
            }
        } else if (is_nine) {
            DW_TAPS_LOOP(taps9_bytes)(&self.taps, params->weights, output);
        } else {
            DW_TAPS_LOOP(taps_bytes)(&self.taps, params->weights, output);
        }
        output += self.taps.pixels * params->window.in.c;
    }
}

void DW_TAPS(const cg_dw_taps_params *params, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    cg_rows rows = cg_all_rows(&window->in, input);
    for (int32_t left = window->batch; left > 0; left--) {
        for (int32_t y = 0; y < window->out.h; y++) {
            DW_TAPS_ROW(params, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        rows.base += rows.ring_rows * rows.row_bytes;
    }
}

#endif /* CG_DEPTHWISE_TAPS_DSP_PARTS_H */
