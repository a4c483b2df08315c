/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_taps_s16_dsp_parts.h -- depthwise convolution, int16 image, DSP extension, any
 * window. Included by its kernels only, which give the function (DW_TAPS) and the inner loops, in
 * assembly, their names: DW_TAPS_LOOP(part) is cg_dw_<part> or its namesake.
 */
#ifndef CG_DEPTHWISE_TAPS_S16_DSP_PARTS_H
#define CG_DEPTHWISE_TAPS_S16_DSP_PARTS_H

#define CG_DW_ELEMENT_BYTES 2
#include "cg_depthwise_s16_dsp.h"
#include "cg_depthwise_taps_parts.h"

/* The pixels of a run, all channels. */
static void taps_run(const cg_dw_taps *taps, const int32_t *weights, bool is_aligned,
                     cg_s16 *output, const cg_dw_limits_s16 *limits)
{
    const bool is_nine = taps->count == CG_DW_NINE_TAPS;
    if (is_aligned) {
        if (is_nine) {
            DW_TAPS_LOOP(taps9_words)(taps, weights, output, limits);
        } else {
            DW_TAPS_LOOP(taps_words)(taps, weights, output, limits);
        }
    } else if (is_nine) {
        DW_TAPS_LOOP(taps9_halves)(taps, weights, output, limits);
    } else {
        DW_TAPS_LOOP(taps_halves)(taps, weights, output, limits);
    }
}

void DW_TAPS(const cg_dw_taps_s16_params *params, const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->taps.window;
    const int32_t channels = window->in.c;
    const bool is_clamped = (params->act_min > -32768) || (params->act_max < 32767);
    const cg_dw_limits_s16 limits = {
        .least = (int32_t)(0x10001u * ((uint32_t)params->act_min & 0xFFFFu)),
        .most = (int32_t)(0x10001u * ((uint32_t)params->act_max & 0xFFFFu)),
    };
    cg_rows rows = {
        .base = (const int8_t *)input,
        .row_bytes = window->in.w * channels * CG_DW_ELEMENT_BYTES,
        .ring_rows = window->in.h,
        .x_origin = 0,
        .pixel_bytes = channels * CG_DW_ELEMENT_BYTES,
    };
    for (int32_t left = window->batch; left > 0; left--) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_tap_row self; /* an initialiser would clear all of its taps */
            cg_begin_tap_row(&self, &params->taps, &rows, y);
            for (int32_t x = 0; x < window->out.w; x += self.taps.pixels) {
                cg_find_run(&self, x, window->out.w);
                taps_run(&self.taps, params->taps.weights, (channels % 2) == 0, output,
                         is_clamped ? &limits : NULL);
                output += self.taps.pixels * channels;
            }
        }
        rows.base += rows.ring_rows * rows.row_bytes;
    }
}

#endif /* CG_DEPTHWISE_TAPS_S16_DSP_PARTS_H */
