/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid_depthwise_conv2d.c -- depthwise convolution of float32 by int8 weights: any multiplier,
 * stride, dilation and padding.
 */
#include "cg_hybrid_parts.h"

static void pixel(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                  const cg_view *view, const int8_t *image, cg_hybrid_scale found, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const int32_t multiplier = window->out.c / window->in.c;
    const int32_t x_step = window->dilation_w * window->in.c;
    const int32_t row_step = window->dilation_h * window->in.w * window->in.c;
    const int32_t columns = view->cols.stop - view->cols.first;
    const bool inside = (view->rows.stop > view->rows.first) && (columns > 0);
    const int8_t *first = inside ? &image[cg_view_start(view, window)] : image;
    int32_t left = multiplier;
    for (int32_t o = 0; o < window->out.c; o++) {
        uint32_t sum = 0;
        const int8_t *x = first;
        for (int32_t ky = view->rows.first; inside && (ky < view->rows.stop); ky++) {
            const int32_t tap = (ky * window->kernel_w) + view->cols.first;
            sum = cg_hybrid_dot(sum, x, x_step, &weights->weight[(tap * window->out.c) + o],
                                window->out.c, columns, found.zero);
            x += row_step;
        }
        output[o] = cg_hybrid_store(weights, o, sum, found.scale, params->act_min, params->act_max);
        left--;
        if (left == 0) {
            left = multiplier;
            first++;
        }
    }
}

void cg_hybrid_depthwise_conv2d(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                                const cg_f32 *input, int8_t *image, cg_f32 *output)
{
    CG_HYBRID_PIXELS(pixel)
}
