/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_s8.c -- largest element inside a window, int8, portable.
 */
#include "cg_window_loops.h"

/* Largest of the taps inside, one channel. */
static int8_t window_max(const cg_tap_rows *rows, const cg_view *view, const int8_t *row)
{
    int8_t largest = *row;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            largest = (*x > largest) ? *x : largest;
            x += rows->pixel_bytes;
        }
        row += rows->step;
    }
    return largest;
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const cg_tap_rows *rows,
                       int8_t *output)
{
    const cg_window *const window = &params->window;
    const int8_t *x = cg_first_tap(rows, window, view);
    for (int32_t c = 0; c < window->out.c; c++) {
        const int32_t largest = window_max(rows, view, x++);
        output[c] = (int8_t)cg_clamp_s32(largest, params->act_min, params->act_max);
    }
}

CG_DEFINE_ROWS(cg_max_pool2d_s8, cg_max_pool2d_s8_row, pool_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_pool_params *params), CG_LIST(params))
