/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_s16.c -- largest element inside a window, int16, portable.
 */
#include "cg_kernels_s16.h"
#include "cg_window_loops.h"

/* Largest of the taps inside, one channel. */
static int32_t window_max(const cg_window *window, const cg_view *view, const cg_s16 *row)
{
    int32_t largest = *row;
    for (int32_t rows = view->rows.stop - view->rows.first; rows > 0; rows--) {
        const cg_s16 *x = row;
        for (int32_t n = view->cols.stop - view->cols.first; n > 0; n--) {
            largest = (*x > largest) ? *x : largest;
            x += window->in.c;
        }
        row += window->in.w * window->in.c;
    }
    return largest;
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const cg_s16 *input,
                       cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const cg_s16 *x = &input[cg_view_start(view, window)];
    for (int32_t c = 0; c < window->out.c; c++) {
        const int32_t largest = window_max(window, view, x++);
        output[c] = (int16_t)cg_clamp_s32(largest, params->act_min, params->act_max);
    }
}

CG_DEFINE_PARTS(cg_max_pool2d_s16, cg_max_pool2d_s16_part, pool_pixel,
                CG_LIST(const cg_pool_params *params), CG_LIST(params))
