/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid_conv2d.c -- 2-D convolution of float32 by int8 weights: any stride, dilation, padding and
 * groups.
 */
#include "cg_hybrid_parts.h"

static void pixel(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                  const cg_view *view, const int8_t *image, cg_hybrid_scale found, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->in.c / params->groups;
    const int32_t group_len = window->out.c / params->groups;
    const int32_t tap_step = window->dilation_w * window->in.c;
    const int32_t row_step = window->dilation_h * window->in.w * window->in.c;
    const bool inside =
        (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const int8_t *first = inside ? &image[cg_view_start(view, window)] : image;
    const int8_t *w = weights->weight;
    int32_t group_left = group_len;
    for (int32_t o = 0; o < window->out.c; o++) {
        uint32_t sum = 0;
        const int8_t *row = first;
        for (int32_t ky = view->rows.first; inside && (ky < view->rows.stop); ky++) {
            const int8_t *x = row;
            const int8_t *tap = &w[((ky * window->kernel_w) + view->cols.first) * channels];
            for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
                sum = cg_hybrid_dot(sum, x, 1, tap, 1, channels, found.zero);
                x += tap_step;
                tap += channels;
            }
            row += row_step;
        }
        output[o] = cg_hybrid_store(weights, o, sum, found.scale, params->act_min, params->act_max);
        w += window->kernel_h * window->kernel_w * channels;
        group_left--;
        if (group_left == 0) {
            group_left = group_len;
            first += channels;
        }
    }
}

void cg_hybrid_conv2d(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                      const cg_f32 *input, int8_t *image, cg_f32 *output)
{
    CG_HYBRID_PIXELS(pixel)
}
