/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_s16_parts.h -- one pixel of a 2-D convolution, int16 image, portable; taps in the
 * padding are left out. Includes cg_conv_s16.h or cg_qlinear_s16.h, which say what a weight is
 * (CG_WEIGHT, CG_WEIGHTS), whether the image has a zero point (CG_HAS_ZERO), how products are
 * summed (CG_DOT) and how a sum becomes a stored value (CG_FINISH).
 */
#ifndef CG_CONV2D_S16_PARTS_H
#define CG_CONV2D_S16_PARTS_H

#include "cg_window_loops.h"

/* Places of taps in memory. Without dilation and groups, taps of a row are one run of elements. */
typedef struct {
    int32_t channels; /* input channels of a group */
    int32_t row_taps; /* weights of one row of taps */
    int32_t skipped;  /* weights of the first tap inside, in its row */
    int32_t run_step; /* elements of the image from one run to the next */
    int32_t row_step; /* and from one row of taps to the next */
    int32_t runs;     /* runs in one row of taps that are inside the image */
    int32_t run_len;  /* elements in a run */
#ifdef CG_HAS_ZERO
    int32_t zero; /* of the image */
#endif
} tap_layout;

static tap_layout layout_of(const cg_conv_params *params, const cg_taps *cols)
{
    const cg_window *const window = &params->window;
    const int32_t inside = cols->stop - cols->first;
    const int32_t channels = window->in.c / params->groups;
    tap_layout layout = {
        .channels = channels,
        .row_taps = window->kernel_w * channels,
        .skipped = cols->first * channels,
        .run_step = window->dilation_w * window->in.c,
        .row_step = window->dilation_h * window->in.w * window->in.c,
        .runs = inside,
        .run_len = channels,
#ifdef CG_HAS_ZERO
        .zero = params->in_zero,
#endif
    };
    if ((params->groups == 1) && (window->dilation_w == 1)) {
        layout.runs = (inside > 0) ? 1 : 0;
        layout.run_len = inside * channels;
    }
    return layout;
}

/* The taps inside the image times their weights; x points to the first of them. */
static int64_t window_dot(const tap_layout *layout, const cg_view *view, const cg_s16 *x,
                          const CG_WEIGHT *w)
{
    int64_t sum = 0;
    w += (view->rows.first * layout->row_taps) + layout->skipped;
    for (int32_t n = view->rows.stop - view->rows.first; n > 0; n--) {
        const cg_s16 *run = x;
        const CG_WEIGHT *run_weight = w;
        for (int32_t i = layout->runs; i > 0; i--) {
            sum = CG_DOT(sum, run, run_weight, layout->run_len, layout);
            run_weight += layout->run_len;
            run += layout->run_step;
        }
        w += layout->row_taps;
        x += layout->row_step;
    }
    return sum;
}

/* All output channels of one pixel. */
static void conv_pixel(const cg_conv_params *params, const CG_WEIGHTS *weights, const cg_view *view,
                       const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const tap_layout layout = layout_of(params, &view->cols);
    const int32_t taps = window->kernel_h * layout.row_taps;
    const int32_t group_len = window->out.c / params->groups;
    const bool inside = (view->rows.stop > view->rows.first) && (layout.runs > 0);
    const cg_s16 *x = inside ? &input[cg_view_start(view, window)] : input;
    const CG_WEIGHT *w = weights->weight;
    int32_t group_left = group_len;
    for (int32_t o = 0; o < window->out.c; o++) {
        const int64_t sum = inside ? window_dot(&layout, view, x, w) : 0;
        output[o] = CG_FINISH(weights, o, sum, params);
        w += taps;
        group_left--;
        if (group_left == 0) {
            group_left = group_len;
            x += layout.channels;
        }
    }
}

#endif /* CG_CONV2D_S16_PARTS_H */
