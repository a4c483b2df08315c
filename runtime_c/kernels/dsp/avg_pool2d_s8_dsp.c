/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_s8_dsp.c -- averages of the elements inside a window, int8, DSP extension: sums of
 * four channels at a time in 16 bits.
 */
#include "cg_needs_dsp.h"

#include <arm_acle.h>

#include "cg_pool_dsp.h"
#include "cg_window_loops.h"

/* Sums four channels by words: sums of 0 and 2, and of 1 and 3, lie in the halves of a word. */
static void sum_words(const cg_tap_rows *rows, const cg_view *view, const int8_t *row,
                      int32_t sums[4])
{
    int32_t even = 0;
    int32_t odd = 0;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            const uint32_t four = *(const cg_u32 *)(const void *)x;
            even = __sxtab16(even, (int32_t)four);
            odd = __sxtab16(odd, (int32_t)((four >> 8) | (four << 24)));
            x += rows->pixel_bytes;
        }
        row += rows->step;
    }
    sums[0] = (int16_t)even;
    sums[1] = (int16_t)odd;
    sums[2] = even >> 16;
    sums[3] = odd >> 16;
}

/* Sums four channels byte by byte; with a step of 0 one channel, four times. */
static void sum_bytes(const cg_tap_rows *rows, const cg_view *view, const int8_t *row, int32_t step,
                      int32_t sums[4])
{
    int32_t first = 0; /* an array would be cleared by a call of memset */
    int32_t second = 0;
    int32_t third = 0;
    int32_t fourth = 0;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            first += x[0];
            second += x[step];
            third += x[2 * step];
            fourth += x[3 * step];
            x += rows->pixel_bytes;
        }
        row += rows->step;
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
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
    const int32_t channels = window->out.c;
    int32_t sums[4];
    int32_t n;
    for (int32_t c = 0; c < channels; c += n) {
        n = ((c + 4) <= channels) ? 4 : 1;
        if ((channels % 4) == 0) {
            sum_words(rows, view, &x[c], sums);
        } else {
            sum_bytes(rows, view, &x[c], n / 4, sums);
        }
        for (int32_t i = 0; i < n; i++) {
            output[c + i] = average(params, sums[i], count);
        }
    }
}

CG_DEFINE_ROWS(cg_avg_pool2d_s8_dsp, cg_avg_pool2d_s8_dsp_row, pool_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_pool_params *params), CG_LIST(params))
CG_DEFINE_REVERSE_ROWS(cg_avg_pool2d_reverse_s8_dsp, compute_row,
                       CG_LIST(const cg_pool_params *params), CG_LIST(params))
