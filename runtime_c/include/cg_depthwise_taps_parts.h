/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_taps_parts.h -- where the taps of depthwise convolutions lie: what the kernels that
 * go tap by tap share (DSP extension). The inner loops are in assembly. Who includes it for int16
 * says that elements have two bytes (CG_DW_ELEMENT_BYTES).
 */
#ifndef CG_DEPTHWISE_TAPS_PARTS_H
#define CG_DEPTHWISE_TAPS_PARTS_H

#include "cg_depthwise_dsp.h"
#include "cg_kernel_parts.h"

#ifndef CG_DW_ELEMENT_BYTES
#define CG_DW_ELEMENT_BYTES 1
#endif

/* A row of results: where its windows' rows begin (NULL: padding), and the taps of one window. */
typedef struct {
    const cg_dw_taps_params *params;
    const cg_rows *input;
    int32_t y;
    bool is_inside; /* all rows of the window are in the image */
    cg_dw_taps taps;
} cg_tap_row;

static inline void cg_find_taps(cg_tap_row *self, int32_t x)
{
    const cg_window *const window = &self->params->window;
    const int8_t **tap = self->taps.tap;
    int32_t at_y = (self->y * window->stride_h) - window->pad_top;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        int32_t at_x = (x * window->stride_w) - window->pad_left;
        const bool is_row = (at_y >= 0) && (at_y < window->in.h);
        const int8_t *row = self->params->pad;
        if (is_row) {
            row = &self->input->base[(at_y % self->input->ring_rows) * self->input->row_bytes];
        }
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            *tap = self->params->pad;
            if (is_row && (at_x >= 0) && (at_x < window->in.w)) {
                *tap = &row[(at_x - self->input->x_origin) * window->in.c * CG_DW_ELEMENT_BYTES];
            }
            tap++;
            at_x += window->dilation_w;
        }
        at_y += window->dilation_h;
    }
    /* Counts where the taps are odd and not nine, with weight 0. In a run of pixels it moves on as
     * they do, so it must be one of them: behind the padding there may be no memory. */
    *tap = tap[-1];
}

/* Results from column x on whose windows are inside the image, at least 1: they share their taps.
 */
static inline int32_t cg_run_length(const cg_tap_row *self, int32_t x, int32_t x_stop)
{
    const cg_window *const window = &self->params->window;
    const int32_t first = (x * window->stride_w) - window->pad_left;
    const int32_t last = first + ((window->kernel_w - 1) * window->dilation_w);
    const int32_t room = window->in.w - 1 - last;
    if (!self->is_inside || (first < 0) || (room < 0)) {
        return 1;
    }
    const int32_t count = (room / window->stride_w) + 1;
    return (count < (x_stop - x)) ? count : (x_stop - x);
}

/* Row y: the taps of no pixel yet. */
static inline void cg_begin_tap_row(cg_tap_row *self, const cg_dw_taps_params *params,
                                    const cg_rows *input, int32_t y)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->in.c;
    const int32_t taps = window->kernel_h * window->kernel_w;
    const int32_t first = (y * window->stride_h) - window->pad_top;
    const int32_t last = first + ((window->kernel_h - 1) * window->dilation_h);
    self->params = params;
    self->input = input;
    self->y = y;
    self->is_inside = (first >= 0) && (last < window->in.h);
    self->taps.count = (taps == CG_DW_NINE_TAPS) ? taps : (taps + (taps % 2));
    self->taps.groups = (channels + 3) / 4;
    self->taps.back = (4 * self->taps.groups) - channels;
    self->taps.step = (window->stride_w - 1) * channels * CG_DW_ELEMENT_BYTES;
    self->taps.out_zero = params->out_zero;
}

/* The taps of the pixel in column x and of those behind it that share them. */
static inline void cg_find_run(cg_tap_row *self, int32_t x, int32_t x_stop)
{
    cg_find_taps(self, x);
    self->taps.pixels = cg_run_length(self, x, x_stop);
}

#endif /* CG_DEPTHWISE_TAPS_PARTS_H */
