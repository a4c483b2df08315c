/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_f32.c -- depthwise convolution, float32, portable: any multiplier, stride,
 * dilation, padding.
 */
#include "cg_window_loops.h"

/* The taps inside the image of one output channel; x and w point to the first of them. */
static float channel_dot(const cg_conv_params_f32 *params, const cg_view *view,
                         const cg_tap_rows *rows, const int8_t *x_row, const float *w_row)
{
    const cg_window *const window = &params->window;
    const int32_t x_step = window->dilation_w * window->in.c;
    const int32_t w_step = window->out.c;
    const int32_t w_row_step = window->kernel_w * window->out.c;
    float sum = 0.0f;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        x_row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const cg_f32 *x = cg_floats(x_row);
        const float *w = w_row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            sum += *x * *w;
            x += x_step;
            w += w_step;
        }
        x_row += rows->step;
        w_row += w_row_step;
    }
    return sum;
}

static void depthwise_pixel(const cg_conv_params_f32 *params, const cg_conv_weights_f32 *weights,
                            const cg_view *view, const cg_tap_rows *rows, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const int32_t channel_multiplier = window->out.c / window->in.c;
    const int32_t first_tap = (view->rows.first * window->kernel_w) + view->cols.first;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const int8_t *x = inside ? cg_first_tap(rows, window, view) : rows->first;
    const float *w = inside ? &weights->weight[first_tap * window->out.c] : weights->weight;
    const float *bias = weights->bias;
    for (int32_t c = 0; c < window->in.c; c++) {
        for (int32_t m = 0; m < channel_multiplier; m++) {
            const float sum = inside ? channel_dot(params, view, rows, x, w) : 0.0f;
            *output++ = cg_clamp_one_f32(sum + *bias, params->act_min, params->act_max);
            w++;
            bias++;
        }
        x += sizeof(float);
    }
}

CG_DEFINE_ROWS(cg_depthwise_conv2d_f32, cg_depthwise_conv2d_f32_row, depthwise_pixel, cg_f32,
               cg_all_rows_f32,
               CG_LIST(const cg_conv_params_f32 *params, const cg_conv_weights_f32 *weights),
               CG_LIST(params, weights))
