/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_conv2d_s16_parts.h -- one pixel of a depthwise convolution, int16 image, portable;
 * what is said in cg_conv2d_s16_parts.h holds here; CG_PRODUCT is of one tap.
 */
#ifndef CG_DEPTHWISE_CONV2D_S16_PARTS_H
#define CG_DEPTHWISE_CONV2D_S16_PARTS_H

#include "cg_window_loops.h"

/* Steps from tap to tap, in elements. */
typedef struct {
    int32_t x_step;
    int32_t x_row_step;
    int32_t w_step;
    int32_t w_row_step;
#ifdef CG_HAS_ZERO
    int32_t zero; /* of the image */
#endif
} tap_steps;

/* The taps inside the image of one output channel; x and w point to the first of them. */
static int64_t channel_dot(const tap_steps *steps, const cg_view *view, const cg_s16 *x_row,
                           const CG_WEIGHT *w_row)
{
    int64_t sum = 0;
    for (int32_t rows = view->rows.stop - view->rows.first; rows > 0; rows--) {
        const cg_s16 *x = x_row;
        const CG_WEIGHT *w = w_row;
        for (int32_t n = view->cols.stop - view->cols.first; n > 0; n--) {
            sum += CG_PRODUCT(*x, *w, steps);
            x += steps->x_step;
            w += steps->w_step;
        }
        x_row += steps->x_row_step;
        w_row += steps->w_row_step;
    }
    return sum;
}

static void depthwise_pixel(const cg_conv_params *params, const CG_WEIGHTS *weights,
                            const cg_view *view, const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const tap_steps steps = {
        .x_step = window->dilation_w * window->in.c,
        .x_row_step = window->dilation_h * window->in.w * window->in.c,
        .w_step = window->out.c,
        .w_row_step = window->kernel_w * window->out.c,
#ifdef CG_HAS_ZERO
        .zero = params->in_zero,
#endif
    };
    const int32_t channel_multiplier = window->out.c / window->in.c;
    const int32_t first_tap = (view->rows.first * window->kernel_w) + view->cols.first;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const cg_s16 *x = inside ? &input[cg_view_start(view, window)] : input;
    const CG_WEIGHT *w = inside ? &weights->weight[first_tap * window->out.c] : weights->weight;
    int32_t o = 0;
    for (int32_t c = 0; c < window->in.c; c++) {
        for (int32_t m = 0; m < channel_multiplier; m++) {
            const int64_t sum = inside ? channel_dot(&steps, view, x, w) : 0;
            output[o] = CG_FINISH(weights, o, sum, params);
            w++;
            o++;
        }
        x++;
    }
}

#endif /* CG_DEPTHWISE_CONV2D_S16_PARTS_H */
