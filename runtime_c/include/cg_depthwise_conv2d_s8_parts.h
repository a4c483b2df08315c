/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_conv2d_s8_parts.h -- one pixel of a depthwise convolution, int8, portable. Whoever
 * includes it says how a sum becomes a stored value: CG_STORE_SUM(sum, multiplier, shift, zero,
 * act_min, act_max), and, by CG_OF_UINT8, whether weights have a zero point.
 */
#ifndef CG_DEPTHWISE_CONV2D_S8_PARTS_H
#define CG_DEPTHWISE_CONV2D_S8_PARTS_H

#include "cg_window_loops.h"

#ifdef CG_OF_UINT8
#define CG_WEIGHTS          cg_conv_weights_u8
#define CG_WEIGHT(w, steps) ((w) - (steps)->weight_zero)
#else
#define CG_WEIGHTS          cg_conv_weights
#define CG_WEIGHT(w, steps) (w)
#endif

/* Steps from tap to tap, in elements. */
typedef struct {
    int32_t x_step;
    int32_t w_step;
    int32_t w_row_step;
    int32_t in_zero;
#ifdef CG_OF_UINT8
    int32_t weight_zero;
#endif
} tap_steps;

/* The taps inside the image of one output channel; x and w point to the first of them. */
static uint32_t channel_dot(const tap_steps *steps, const cg_view *view, const cg_tap_rows *rows,
                            const int8_t *x_row, const int8_t *w_row)
{
    const int32_t width = view->cols.stop - view->cols.first;
    uint32_t sum = 0;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        if (ky == rows->wrap) {
            x_row -= rows->ring_bytes;
        }
        const int8_t *x = x_row;
        const int8_t *w = w_row;
        for (int32_t n = width; n > 0; n--) {
            sum += (uint32_t)((*x - steps->in_zero) * CG_WEIGHT(*w, steps));
            x += steps->x_step;
            w += steps->w_step;
        }
        x_row += rows->step;
        w_row += steps->w_row_step;
    }
    return sum;
}

static void depthwise_pixel(const cg_conv_params *params, const CG_WEIGHTS *weights,
                            const cg_view *view, const cg_tap_rows *rows, int8_t *output)
{
    const cg_window *const window = &params->window;
    const tap_steps steps = {
        .x_step = window->dilation_w * window->in.c,
        .w_step = window->out.c,
        .w_row_step = window->kernel_w * window->out.c,
        .in_zero = params->in_zero,
#ifdef CG_OF_UINT8
        .weight_zero = weights->weight_zero,
#endif
    };
    const int32_t channel_multiplier = window->out.c / window->in.c;
    const int32_t first_tap = (view->rows.first * window->kernel_w) + view->cols.first;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const int8_t *x = inside ? cg_first_tap(rows, window, view) : rows->first;
    const int8_t *w = inside ? &weights->weight[first_tap * window->out.c] : weights->weight;
    const int32_t *bias = weights->bias;
    const int32_t *multiplier = weights->multiplier;
    const int8_t *shift = weights->shift;
    for (int32_t c = 0; c < window->in.c; c++) {
        for (int32_t m = 0; m < channel_multiplier; m++) {
            const uint32_t sum = inside ? channel_dot(&steps, view, rows, x, w) : 0u;
            *output++ = CG_STORE_SUM((int32_t)((uint32_t)*bias + sum), *multiplier, *shift,
                                     params->out_zero, params->act_min, params->act_max);
            w++;
            bias++;
            multiplier += weights->scale_step;
            shift += weights->scale_step;
        }
        x++;
    }
}

#endif /* CG_DEPTHWISE_CONV2D_S8_PARTS_H */
