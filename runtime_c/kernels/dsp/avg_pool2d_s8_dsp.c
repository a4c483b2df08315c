/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_s8_dsp.c -- averages of the elements inside a window, int8, DSP extension: sums of
 * four channels at a time in 16 bits.
 */
#include <arm_acle.h>

#include "cg_pool_dsp.h"
#include "cg_window_loops.h"

/* Sums of channels 0 and 2 and of 1 and 3 of the taps inside. */
typedef struct {
    int32_t even;
    int32_t odd;
} pool_sums;

static pool_sums window_sums(const cg_tap_rows *rows, const cg_view *view, const int8_t *row)
{
    pool_sums sums = {0, 0};
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            const uint32_t four = *(const cg_u32 *)(const void *)x;
            sums.even = __sxtab16(sums.even, (int32_t)four);
            sums.odd = __sxtab16(sums.odd, (int32_t)((four >> 8) | (four << 24)));
            x += rows->pixel_bytes;
        }
        row += rows->step;
    }
    return sums;
}

/* Halves away from zero. */
static int8_t average(const cg_pool_params *params, int32_t sum, int32_t count)
{
    const int32_t half = (sum > 0) ? (count / 2) : -(count / 2);
    return (int8_t)cg_clamp_s32((sum + half) / count, params->act_min, params->act_max);
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const cg_tap_rows *rows,
                       int8_t *output)
{
    const cg_window *const window = &params->window;
    const int8_t *x = cg_first_tap(rows, window, view);
    const int32_t count =
        (view->rows.stop - view->rows.first) * (view->cols.stop - view->cols.first);
    for (int32_t c = 0; c < window->out.c; c += 4) {
        const pool_sums sums = window_sums(rows, view, &x[c]);
        output[c] = average(params, (int16_t)sums.even, count);
        output[c + 1] = average(params, (int16_t)sums.odd, count);
        output[c + 2] = average(params, sums.even >> 16, count);
        output[c + 3] = average(params, sums.odd >> 16, count);
    }
}

CG_DEFINE_ROWS(cg_avg_pool2d_s8_dsp, cg_avg_pool2d_s8_dsp_row, pool_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_pool_params *params), CG_LIST(params))
CG_DEFINE_REVERSE_ROWS(cg_avg_pool2d_reverse_s8_dsp, cg_avg_pool2d_s8_dsp_row,
                       CG_LIST(const cg_pool_params *params), CG_LIST(params))
