/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_f32_parts.h -- one pixel of a 2-D convolution, float32, portable. Whoever includes it
 * says, by CG_OF_HALVES, whether weights lie as float16.
 */
#ifndef CG_CONV2D_F32_PARTS_H
#define CG_CONV2D_F32_PARTS_H

#include "cg_window_loops.h"

#ifdef CG_OF_HALVES
#define CG_WEIGHTS           cg_conv_weights_f32w16
#define CG_WEIGHT            uint16_t
#define CG_DOT(sum, x, w, n) cg_dot_f32w16(sum, x, w, n)
#else
#define CG_WEIGHTS           cg_conv_weights_f32
#define CG_WEIGHT            float
#define CG_DOT(sum, x, w, n) cg_dot_f32(sum, x, w, n)
#endif

/* The taps inside the image of one output channel; `image` is the first of them. */
static float window_dot(const cg_conv_params_f32 *params, const cg_view *view,
                        const cg_tap_rows *rows, int32_t channels, const int8_t *image,
                        const CG_WEIGHT *w)
{
    const cg_window *const window = &params->window;
    float sum = 0.0f;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        image -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const cg_f32 *pixel = cg_floats(image);
        const CG_WEIGHT *tap = &w[((ky * window->kernel_w) + view->cols.first) * channels];
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            sum = CG_DOT(sum, pixel, tap, channels);
            pixel += window->dilation_w * window->in.c;
            tap += channels;
        }
        image += rows->step;
    }
    return sum;
}

static void conv_pixel(const cg_conv_params_f32 *params, const CG_WEIGHTS *weights,
                       const cg_view *view, const cg_tap_rows *rows, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->in.c / params->groups;
    const int32_t taps = window->kernel_h * window->kernel_w * channels;
    const int32_t group_len = window->out.c / params->groups;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const int8_t *image = inside ? cg_first_tap(rows, window, view) : rows->first;
    const CG_WEIGHT *w = weights->weight;
    int32_t group_left = group_len;
    for (int32_t o = 0; o < window->out.c; o++) {
        const float sum = window_dot(params, view, rows, channels, image, w) + weights->bias[o];
        output[o] = cg_clamp_one_f32(sum, params->act_min, params->act_max);
        w += taps;
        group_left--;
        if (group_left == 0) {
            group_left = group_len;
            image += channels * (int32_t)sizeof(float);
        }
    }
}

#endif
