/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_s16.c -- depthwise convolution, int16 image, int8 weights, portable: any
 * multiplier, stride, dilation, padding.
 */
#include "cg_conv_s16.h"
#include "cg_window_loops.h"

/* Steps from tap to tap, in elements. */
typedef struct {
    int32_t x_step;
    int32_t x_row_step;
    int32_t w_step;
    int32_t w_row_step;
} tap_steps;

/* The taps inside the image of one output channel; x and w point to the first of them. */
static int64_t channel_dot(const tap_steps *steps, const cg_view *view, const cg_s16 *x_row,
                           const int8_t *w_row)
{
    int64_t sum = 0;
    for (int32_t rows = view->rows.stop - view->rows.first; rows > 0; rows--) {
        const cg_s16 *x = x_row;
        const int8_t *w = w_row;
        for (int32_t n = view->cols.stop - view->cols.first; n > 0; n--) {
            sum += *x * *w;
            x += steps->x_step;
            w += steps->w_step;
        }
        x_row += steps->x_row_step;
        w_row += steps->w_row_step;
    }
    return sum;
}

static void depthwise_pixel(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                            const cg_view *view, const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const tap_steps steps = {
        .x_step = window->dilation_w * window->in.c,
        .x_row_step = window->dilation_h * window->in.w * window->in.c,
        .w_step = window->out.c,
        .w_row_step = window->kernel_w * window->out.c,
    };
    const int32_t channel_multiplier = window->out.c / window->in.c;
    const int32_t first_tap = (view->rows.first * window->kernel_w) + view->cols.first;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const cg_s16 *x = inside ? &input[cg_view_start(view, window)] : input;
    const int8_t *w = inside ? &weights->weight[first_tap * window->out.c] : weights->weight;
    int32_t o = 0;
    for (int32_t c = 0; c < window->in.c; c++) {
        for (int32_t m = 0; m < channel_multiplier; m++) {
            const int64_t sum = inside ? channel_dot(&steps, view, x, w) : 0;
            output[o] = cg_finish_s16(weights, o, sum, params->act_min, params->act_max);
            w++;
            o++;
        }
        x++;
    }
}

CG_DEFINE_PARTS(cg_depthwise_conv2d_s16, cg_depthwise_conv2d_s16_part, depthwise_pixel,
                CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16 *weights),
                CG_LIST(params, weights))
