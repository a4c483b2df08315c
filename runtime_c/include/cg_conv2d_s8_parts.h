/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_s8_parts.h -- one pixel of a 2-D convolution, int8, portable. Whoever includes it says
 * how a sum becomes a stored value: CG_STORE_SUM(sum, multiplier, shift, zero, act_min, act_max),
 * and, by CG_OF_UINT8, whether weights have a zero point.
 */
#ifndef CG_CONV2D_S8_PARTS_H
#define CG_CONV2D_S8_PARTS_H

#include "cg_window_loops.h"

#ifdef CG_OF_UINT8
#define CG_WEIGHTS                   cg_conv_weights_u8
#define CG_DOT(sum, x, w, n, layout) cg_dot_u8(sum, x, w, n, (layout)->weight_zero)
#else
#define CG_WEIGHTS                   cg_conv_weights
#define CG_DOT(sum, x, w, n, layout) cg_dot_s8(sum, x, w, n)
#endif

/* Places of taps in memory. Without dilation and groups, taps of a row are one run of elements. */
typedef struct {
    int32_t channels; /* input channels of a group */
    int32_t row_taps; /* weights of one row of taps */
    int32_t left;     /* of these: in the padding before the image, and behind it */
    int32_t right;
    int32_t run_step; /* elements of the image from one run to the next */
    int32_t runs;     /* runs in one row of taps that are inside the image */
    int32_t run_len;  /* elements in a run */
#ifdef CG_OF_UINT8
    int32_t weight_zero;
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
        .left = cols->first * channels,
        .right = (window->kernel_w - cols->stop) * channels,
        .run_step = window->dilation_w * window->in.c,
        .runs = inside,
        .run_len = channels,
    };
    if ((params->groups == 1) && (window->dilation_w == 1)) {
        layout.runs = (inside > 0) ? 1 : 0;
        layout.run_len = inside * channels;
    }
    return layout;
}

static uint32_t sum_of(uint32_t sum, const int8_t *w, int32_t n)
{
    for (; n > 0; n--) {
        const int32_t weight = *w++;
        sum += (uint32_t)weight;
    }
    return sum;
}

/* Taps inside times image, plus taps in the padding times the zero point. */
static uint32_t window_dot(const cg_conv_params *params, const tap_layout *layout,
                           const cg_view *view, const cg_tap_rows *rows, const int8_t *image,
                           const int8_t *w)
{
    const int32_t above = view->rows.first * layout->row_taps;
    const int32_t below = (params->window.kernel_h - view->rows.stop) * layout->row_taps;
    uint32_t sum = 0;
    uint32_t padded = sum_of(0, w, above);
    w += above;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        if (ky == rows->wrap) {
            image -= rows->ring_bytes;
        }
        padded = sum_of(padded, w, layout->left);
        w += layout->left;
        const int8_t *run = image;
        for (int32_t i = layout->runs; i > 0; i--) {
            sum = CG_DOT(sum, run, w, layout->run_len, layout);
            w += layout->run_len;
            run += layout->run_step;
        }
        padded = sum_of(padded, w, layout->right);
        w += layout->right;
        image += rows->step;
    }
    padded = sum_of(padded, w, below);
#ifdef CG_OF_UINT8
    const int32_t lines = view->rows.stop - view->rows.first;
    const int32_t taps = params->window.kernel_h * layout->row_taps;
    const int32_t outside = taps - (lines * layout->runs * layout->run_len);
    padded -= (uint32_t)(outside * layout->weight_zero);
#endif
    return sum + (padded * (uint32_t)params->in_zero);
}

/* All output channels of one pixel. */
static void conv_pixel(const cg_conv_params *params, const CG_WEIGHTS *weights, const cg_view *view,
                       const cg_tap_rows *rows, int8_t *output)
{
    const cg_window *const window = &params->window;
#ifdef CG_OF_UINT8
    tap_layout layout = layout_of(params, &view->cols);
    layout.weight_zero = weights->weight_zero;
#else
    const tap_layout layout = layout_of(params, &view->cols);
#endif
    const int32_t taps = window->kernel_h * layout.row_taps;
    const int32_t group_len = window->out.c / params->groups;
    const bool inside = (view->rows.stop > view->rows.first) && (layout.runs > 0);
    const int8_t *image = inside ? cg_first_tap(rows, window, view) : rows->first;
    const int8_t *w = weights->weight;
    const int32_t *multiplier = weights->multiplier;
    const int8_t *shift = weights->shift;
    int32_t group_left = group_len;
    for (int32_t o = 0; o < window->out.c; o++) {
        const uint32_t sum = window_dot(params, &layout, view, rows, image, w);
        output[o] = CG_STORE_SUM((int32_t)((uint32_t)weights->bias[o] + sum), *multiplier, *shift,
                                 params->out_zero, params->act_min, params->act_max);
        w += taps;
        multiplier += weights->scale_step;
        shift += weights->scale_step;
        group_left--;
        if (group_left == 0) {
            group_left = group_len;
            image += layout.channels;
        }
    }
}

#endif /* CG_CONV2D_S8_PARTS_H */
