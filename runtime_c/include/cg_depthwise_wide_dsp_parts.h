/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_wide_dsp_parts.h -- 5x5 and 7x7 depthwise convolution of stride 1, int8, DSP
 * extension: which pixels are widened when, which rows are computed from them. The text of
 * depthwise5x5_s8_dsp.c and depthwise7x7_s8_dsp.c, which say by WIDE what their function is called,
 * by TAPS how long a side of the window is, by WIDE_ROWS how many rows are computed together and by
 * WIDE_PRODUCTS which loop, in assembly, has the products.
 */
#ifndef CG_DEPTHWISE_WIDE_DSP_PARTS_H
#define CG_DEPTHWISE_WIDE_DSP_PARTS_H

#include "cg_depthwise_dsp.h"
#include "cg_kernel_parts.h"

#define WIDE_LINES 8

typedef struct {
    const cg_dw_wide_params *params;
    cg_dw_lines lines;
    cg_dw_job job;
} wide_stripe;

/* Columns: lines of the whole width, of the padding in front all whole words but the last. */
static void start(wide_stripe *self, const cg_dw_wide_params *params, int32_t *planes)
{
    const cg_window *const window = &params->window;
    const int32_t front = window->pad_left / 2;
    const int32_t lead = window->pad_left % 2;
    const int32_t needed = window->out.w - 1 + TAPS - window->pad_left;
    const int32_t count = (window->in.w < needed) ? window->in.w : needed;
    const int32_t words = (2 * ((window->out.w + 3) / 4)) + (TAPS / 2) - front;
    const int32_t pairs = (lead + count) / 2;
    self->params = params;
    self->lines.step = window->in.c;
    self->lines.pairs = pairs;
    self->lines.rest = words - pairs;
    self->lines.lead = lead;
    self->lines.odd = (lead + count) % 2;
    self->lines.pad = (uint32_t)(uint8_t)params->in_zero * 0x01010101u;
    self->job.columns = window->out.w;
    self->job.step = window->out.c;
    self->job.line_bytes = window->out.w * window->out.c;
    self->job.out_zero = params->out_zero;
    const uint32_t pad = (uint32_t)(uint16_t)params->in_zero * 0x00010001u;
    for (int32_t i = 0; i < (front * 4 * WIDE_LINES); i++) {
        planes[i] = (int32_t)pad;
    }
}

/* The image rows of the band of result rows that begins with y, an even number of them. */
static void find_rows(wide_stripe *self, const int8_t *image, int32_t y)
{
    const cg_window *const window = &self->params->window;
    const int32_t left = window->out.h - y;
    self->job.rows = (left < WIDE_ROWS) ? left : WIDE_ROWS;
    const int32_t lines = self->job.rows - 1 + TAPS;
    self->lines.count = lines + (lines % 2);
    for (int32_t line = 0; line < self->lines.count; line++) {
        const int32_t at = y + line - window->pad_top;
        const int8_t *row = NULL;
        if ((at >= 0) && (at < window->in.h) && (line < lines)) {
            row = &image[at * window->in.w * window->in.c];
        }
        self->lines.rows[line] = row;
    }
}

/* Four channels from c on, or the last four: those from c on are computed. */
static void compute(wide_stripe *self, int32_t *planes, int8_t *output, int32_t c)
{
    const int32_t left = self->lines.step - c;
    const int32_t back = (left < 4) ? (4 - left) : 0;
    int32_t *const inside = &planes[(self->params->window.pad_left / 2) * 4 * WIDE_LINES];
    const int32_t *const channels = &self->params->channels[c * (3 + (TAPS * (TAPS - 1)))];
    cg_dw_widen8_dsp(&self->lines, c - back, inside);
    self->job.count = 4 - back;
    WIDE_PRODUCTS(&self->job, &planes[back * WIDE_LINES], channels, &output[c]);
}

void WIDE(const cg_dw_wide_params *params, void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    wide_stripe self; /* an initialiser would clear all of it */
    start(&self, params, workspace);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y += WIDE_ROWS) {
            int8_t *const results = &output[y * window->out.w * window->out.c];
            find_rows(&self, input, y);
            for (int32_t c = 0; c < window->in.c; c += 4) {
                compute(&self, workspace, results, c);
            }
        }
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}

#endif /* CG_DEPTHWISE_WIDE_DSP_PARTS_H */
