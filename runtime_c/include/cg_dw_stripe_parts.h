/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_dw_stripe_parts.h -- stripes of columns of 3x3 windows, DSP extension: which pixels are
 * widened for them, where their results go. Of depthwise convolutions (cg_depthwise3x3_dsp_parts.h)
 * and of images of one channel (cg_depthwise_plane_dsp_parts.h).
 */
#ifndef CG_DW_STRIPE_PARTS_H
#define CG_DW_STRIPE_PARTS_H

#include "cg_depthwise_dsp.h"
#include "cg_kernel_parts.h"

/* A stripe of columns: how its lines are widened, how its results are stored. */
typedef struct {
    const cg_dw3x3_params *params;
    int32_t first; /* its first image column */
    cg_dw_lines lines;
    cg_dw_job job;
#ifdef DW3X3_WIDEN
    int32_t channels[4 * CG_DW3X3_WORDS]; /* those at hand */
#endif
} dw_stripe;

/* Words of a line that so many columns of results read. */
static int32_t words_of(const cg_window *window, int32_t columns)
{
    return (window->stride_w * ((columns + 1) / 2)) + 1;
}

/*
 * Columns from x_start on, up to x_stop or as many as the tile has. Lines always have the words of
 * a whole tile: all of the workspace is written.
 */
static void start_stripe(dw_stripe *self, const cg_dw_tile *tile, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &self->params->window;
    const int32_t left = x_stop - x_start;
    const int32_t columns = (left < tile->columns) ? left : tile->columns;
    const int32_t widest = (window->out.w < tile->columns) ? window->out.w : tile->columns;
    const int32_t origin = (x_start * window->stride_w) - window->pad_left;
    const int32_t lead = (origin < 0) ? 1 : 0;
    const int32_t first = origin + lead;
    const int32_t inside = (first < window->in.w) ? (window->in.w - first) : 0;
    const int32_t needed = ((columns - 1) * window->stride_w) + 3 - lead;
    const int32_t count = (inside < needed) ? inside : needed;
    const int32_t pairs = (lead + count) / 2;
    self->first = first;
    self->lines.plane_bytes = tile->plane_bytes;
    self->lines.step = window->in.c;
    self->lines.pairs = pairs;
    self->lines.rest = words_of(window, widest) - pairs;
    self->lines.lead = lead;
    self->lines.odd = (lead + count) % 2;
    self->lines.pad = (uint32_t)(uint8_t)self->params->in_zero * 0x01010101u;
    self->job.plane_bytes = tile->plane_bytes;
    self->job.columns = columns;
    self->job.step = window->out.c;
    self->job.line_bytes = window->out.w * window->out.c;
    self->job.out_zero = self->params->out_zero;
}

/* The three image rows of result row y. */
static inline void find_lines(dw_stripe *self, const cg_rows *input, int32_t y)
{
    const cg_window *const window = &self->params->window;
    self->lines.count = 3;
    for (int32_t line = 0; line < 3; line++) {
        const int32_t at = (y * window->stride_h) - window->pad_top + line;
        self->lines.rows[line] = NULL;
        if ((at >= 0) && (at < window->in.h)) {
            self->lines.rows[line] = &input->base[cg_rows_offset(input, at, self->first)];
        }
    }
}

#endif /* CG_DW_STRIPE_PARTS_H */
