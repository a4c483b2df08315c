/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise3x3_dsp_parts.h -- 3x3 depthwise convolution, int8, DSP extension: which pixels are
 * widened when, which rows are computed from them. The text of depthwise3x3_s8_dsp.c and of
 * qlinear_depthwise3x3_s8_dsp.c, which say by DW3X3... what their functions are called and which
 * loops, in assembly, have the products. With DW3X3_WIDEN channels are packed: it makes
 * CG_DW3X3_WORDS of each of four.
 */
#ifndef CG_DEPTHWISE3X3_DSP_PARTS_H
#define CG_DEPTHWISE3X3_DSP_PARTS_H

#include "cg_dw_stripe_parts.h"
#include "cg_kernel_parts.h"

/* Result rows in a band, and image rows that it reads. */
#define BAND_ROWS      4
#define BAND_LINES     6
#define IN_PLACE_ROWS  2
#define IN_PLACE_LINES 4

/* First channel that is read with channel c: the last four are read together. */
static int32_t group_start(const dw_stripe *self, int32_t c)
{
    const int32_t last = self->lines.step - 4;
    return (c < last) ? c : last;
}

static int32_t group_count(const dw_stripe *self, int32_t c)
{
    const int32_t left = self->lines.step - c;
    return (left < 4) ? left : 4;
}

/* `words` from plane to plane. */
static int32_t *plane_of(const dw_stripe *self, int32_t *planes, int32_t c, int32_t words)
{
    return &planes[(c - group_start(self, c)) * words];
}

/* Words of channel c, a multiple of four, and of the three channels behind it. */
static const int32_t *channel_words(dw_stripe *self, int32_t c)
{
#ifdef DW3X3_WIDEN
    DW3X3_WIDEN(&self->params->channels[(c / 4) * CG_DW3X3_S4_WORDS], self->channels);
    return self->channels;
#else
    return &self->params->channels[c * CG_DW3X3_WORDS];
#endif
}

/*
 * The image rows of the band of result rows that begins with y. Rows are computed in pairs: what is
 * behind an odd last one counts for nothing. Not inlined and not unrolled, which would take more
 * code than it saves.
 */
__attribute__((noinline)) static void find_rows(dw_stripe *self, const int8_t *image, int32_t y,
                                                int32_t rows)
{
    const cg_window *const window = &self->params->window;
    const int32_t left = window->out.h - y;
    const int32_t row_bytes = window->in.w * window->in.c;
    self->job.rows = (left < rows) ? left : rows;
    const int32_t lines = self->job.rows + 2;
    const int32_t count = lines + (lines & 1);
    int32_t at = y - window->pad_top;
    int32_t place = (at * row_bytes) + (self->first * window->in.c);
    self->lines.count = count;
#pragma GCC unroll 1
    for (int32_t line = 0; line < count; line++) {
        self->lines.rows[line] = ((at >= 0) && (at < window->in.h)) ? &image[place] : NULL;
        at++;
        place += row_bytes;
    }
}

/* The channels with c of a band of four rows. */
static void compute_band(dw_stripe *self, int32_t *planes, int8_t *output, int32_t c)
{
    const int32_t start = group_start(self, c);
    cg_dw_widen6_dsp(&self->lines, start, planes);
    self->job.count = group_count(self, c);
    int32_t *const plane = plane_of(self, planes, c, BAND_LINES);
    DW3X3_PLANE6(&self->job, plane, channel_words(self, c), &output[c]);
}

/* The channels with c of an image, two rows at a time: the last two of four lines serve the next.
 */
static void compute_in_place(dw_stripe *self, int32_t *planes, int8_t *image, int32_t c)
{
    const cg_window *const window = &self->params->window;
    const int32_t start = group_start(self, c);
    const int32_t *const words = channel_words(self, c);
    const int32_t *const plane = plane_of(self, planes, c, IN_PLACE_LINES);
    const int32_t row_bytes = self->job.line_bytes;
    int32_t place = 0; /* of the results, in the image */
    int32_t from = 0;
    find_rows(self, image, 0, IN_PLACE_ROWS);
    self->job.count = group_count(self, c);
    for (int32_t left = window->out.h; left > 0; left -= IN_PLACE_ROWS) {
        if (from > 0) {
            cg_dw_keep_lines_dsp(planes, self->lines.pairs + self->lines.rest);
            const int32_t far = left - IN_PLACE_ROWS + window->pad_top;
            const int32_t row = place + ((IN_PLACE_ROWS - window->pad_top) * row_bytes);
            self->lines.count = 2;
            self->lines.rows[0] = (far > 0) ? &image[row] : NULL;
            self->lines.rows[1] = (far > 1) ? &image[row + row_bytes] : NULL;
            self->job.rows = (left < IN_PLACE_ROWS) ? left : IN_PLACE_ROWS;
        }
        cg_dw_widen4_dsp(&self->lines, start, &planes[from]);
        DW3X3_PLANE4(&self->job, plane, words, &image[place + c]);
        place += IN_PLACE_ROWS * row_bytes;
        from = 2;
    }
}

void DW3X3(const cg_dw3x3_params *params, void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    dw_stripe self; /* an initialiser would clear all of it */
    self.params = params;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y += BAND_ROWS) {
            for (int32_t x = 0; x < window->out.w; x += params->band.columns) {
                int8_t *const results = &output[((y * window->out.w) + x) * window->out.c];
                start_stripe(&self, &params->band, x, window->out.w);
                find_rows(&self, input, y, BAND_ROWS);
                for (int32_t c = 0; c < window->in.c; c += 4) {
                    compute_band(&self, workspace, results, c);
                }
            }
        }
        input += window->in.h * window->in.w * window->in.c;
        output += window->out.h * window->out.w * window->out.c;
    }
}

void DW3X3_IN_PLACE(const cg_dw3x3_params *params, void *workspace, int8_t *image)
{
    const cg_window *const window = &params->window;
    dw_stripe self; /* an initialiser would clear all of it */
    self.params = params;
    start_stripe(&self, &params->band, 0, window->out.w);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->in.c; c += 4) {
            compute_in_place(&self, workspace, image, c);
        }
        image += window->in.h * window->in.w * window->in.c;
    }
}

void DW3X3_ROW(const cg_dw3x3_params *params, void *workspace, const cg_rows *input, int8_t *output,
               int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    int32_t *const planes = workspace;
    dw_stripe self; /* an initialiser would clear all of it */
    self.params = params;
    for (int32_t x = x_start; x < x_stop; x += params->line.columns) {
        start_stripe(&self, &params->line, x, x_stop);
        find_lines(&self, input, y);
        for (int32_t c = 0; c < window->in.c; c += 4) {
            const int32_t start = group_start(&self, c);
            if ((self.lines.step % 4) == 0) {
                cg_dw_widen3_words_dsp(&self.lines, start, planes);
            } else {
                cg_dw_widen3_bytes_dsp(&self.lines, start, planes);
            }
            self.job.count = group_count(&self, c);
            const int32_t words = self.job.plane_bytes / 4;
            const int32_t *const plane = plane_of(&self, planes, c, words);
            if (window->stride_w == 1) {
                DW3X3_LINE1(&self.job, plane, channel_words(&self, c), &output[c]);
            } else {
                DW3X3_LINE2(&self.job, plane, channel_words(&self, c), &output[c]);
            }
        }
        output += params->line.columns * window->out.c;
    }
}

void DW3X3_ROWS(const cg_dw3x3_params *params, void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            DW3X3_ROW(params, workspace, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += window->in.h * window->in.w * window->in.c;
    }
}

#endif /* CG_DEPTHWISE3X3_DSP_PARTS_H */
