/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_plane_dsp_parts.h -- 3x3 depthwise convolution of one channel, int8, DSP extension:
 * three rows are widened once for all results of a row. The text of depthwise_plane_s8_dsp.c and of
 * depthwise_plane_least_s8_dsp.c, which say by PLANE... what their functions are called and which
 * loops, in assembly, have the products.
 */
#ifndef CG_DEPTHWISE_PLANE_DSP_PARTS_H
#define CG_DEPTHWISE_PLANE_DSP_PARTS_H

#include "cg_dw_stripe_parts.h"

void PLANE_ROW(const cg_dw3x3_params *params, void *workspace, const cg_rows *input, int8_t *output,
               int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    dw_stripe self; /* an initialiser would clear all of it */
    self.params = params;
    for (int32_t x = x_start; x < x_stop; x += params->line.columns) {
        start_stripe(&self, &params->line, x, x_stop);
        find_lines(&self, input, y);
        cg_dw_widen3_single_dsp(&self.lines, workspace);
        self.job.plane_bytes = 0;
        self.job.count = window->out.c;
        if (window->stride_w == 1) {
            PLANE_LINE1(&self.job, workspace, params->channels, output);
        } else {
            PLANE_LINE2(&self.job, workspace, params->channels, output);
        }
        output += params->line.columns * window->out.c;
    }
}

void PLANE(const cg_dw3x3_params *params, void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            PLANE_ROW(params, workspace, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += window->in.h * window->in.w;
    }
}

#endif /* CG_DEPTHWISE_PLANE_DSP_PARTS_H */
