/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_f32.c -- largest element inside a window, float32, portable.
 */
#include "cg_kernel_parts.h"

/* Largest of the taps inside, one channel. */
static cg_f32 window_max(const cg_window *window, const cg_view *view, const cg_f32 *row)
{
    cg_f32 largest = *row;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        const cg_f32 *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            largest = (*x > largest) ? *x : largest;
            x += window->in.c;
        }
        row += window->in.w * window->in.c;
    }
    return largest;
}

static void pool_pixel(const cg_pool_params_f32 *params, const cg_view *view, const cg_f32 *input,
                       cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const cg_f32 *x = &input[cg_view_start(view, window)];
    for (int32_t c = 0; c < window->out.c; c++) {
        const float largest = window_max(window, view, x++);
        output[c] = cg_clamp_one_f32(largest, params->act_min, params->act_max);
    }
}

void cg_max_pool2d_f32(const cg_pool_params_f32 *params, const cg_f32 *input, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            for (int32_t x = 0; x < window->out.w; x++) {
                cg_view_col(&view, window, x);
                pool_pixel(params, &view, input, output);
                output += window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}
