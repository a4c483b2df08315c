/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_s16.c -- averages of the elements inside a window, int16, portable. Windows of fewer
 * than 2^15 elements, so that 32 bits hold their sums.
 */
#include "cg_kernels_s16.h"
#include "cg_window_loops.h"

/* Sum of the taps inside, one channel. */
static int32_t window_sum(const cg_window *window, const cg_view *view, const cg_s16 *row)
{
    int32_t sum = 0;
    for (int32_t rows = view->rows.stop - view->rows.first; rows > 0; rows--) {
        const cg_s16 *x = row;
        for (int32_t n = view->cols.stop - view->cols.first; n > 0; n--) {
            sum += *x;
            x += window->in.c;
        }
        row += window->in.w * window->in.c;
    }
    return sum;
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const cg_s16 *input,
                       cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const cg_s16 *x = &input[cg_view_start(view, window)];
    /* At least 1: an AVERAGE_POOL_2D of which a window meets no element of the image is refused. */
    const int32_t count =
        (view->rows.stop - view->rows.first) * (view->cols.stop - view->cols.first);
    for (int32_t c = 0; c < window->out.c; c++) {
        const int32_t sum = window_sum(window, view, x++);
        const int32_t half = (sum > 0) ? (count / 2) : -(count / 2);
        output[c] = (int16_t)cg_clamp_s32((sum + half) / count, params->act_min, params->act_max);
    }
}

CG_DEFINE_PARTS(cg_avg_pool2d_s16, cg_avg_pool2d_s16_part, pool_pixel,
                CG_LIST(const cg_pool_params *params), CG_LIST(params))
