/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_f32.c -- largest element inside a window, float32, portable.
 */
#include "cg_window_loops.h"

/* Largest of the taps inside, one channel. */
static cg_f32 window_max(const cg_tap_rows *rows, int32_t channels, const cg_view *view,
                         const int8_t *row)
{
    cg_f32 largest = *cg_floats(row);
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const cg_f32 *x = cg_floats(row);
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            largest = (*x > largest) ? *x : largest;
            x += channels;
        }
        row += rows->step;
    }
    return largest;
}

static void pool_pixel(const cg_pool_params_f32 *params, const cg_view *view,
                       const cg_tap_rows *rows, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    const int8_t *x = cg_first_tap(rows, window, view);
    for (int32_t c = 0; c < window->out.c; c++) {
        const float largest = window_max(rows, window->in.c, view, x);
        output[c] = cg_clamp_one_f32(largest, params->act_min, params->act_max);
        x += sizeof(float);
    }
}

CG_DEFINE_ROWS(cg_max_pool2d_f32, cg_max_pool2d_f32_row, pool_pixel, cg_f32, cg_all_rows_f32,
               CG_LIST(const cg_pool_params_f32 *params), CG_LIST(params))
