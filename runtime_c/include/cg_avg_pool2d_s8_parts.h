/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_avg_pool2d_s8_parts.h -- the averages of one pixel, int8, portable. Whoever includes it says
 * which way halves go: CG_MEAN(sum, count), of at least one element.
 */
#ifndef CG_AVG_POOL2D_S8_PARTS_H
#define CG_AVG_POOL2D_S8_PARTS_H

#include "cg_window_loops.h"

/* Sum of the taps inside, one channel. */
static int32_t window_sum(const cg_tap_rows *rows, const cg_view *view, const int8_t *row)
{
    int32_t sum = 0;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            sum += *x;
            x += rows->pixel_bytes;
        }
        row += rows->step;
    }
    return sum;
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const cg_tap_rows *rows,
                       int8_t *output)
{
    const cg_window *const window = &params->window;
    const int8_t *x = cg_first_tap(rows, window, view);
    /* At least 1: an AVERAGE_POOL_2D of which a window meets no element of the image is refused. */
    const int32_t count =
        (view->rows.stop - view->rows.first) * (view->cols.stop - view->cols.first);
    for (int32_t c = 0; c < window->out.c; c++) {
        const int32_t sum = window_sum(rows, view, x++);
        output[c] = (int8_t)cg_clamp_s32(CG_MEAN(sum, count), params->act_min, params->act_max);
    }
}

#endif /* CG_AVG_POOL2D_S8_PARTS_H */
