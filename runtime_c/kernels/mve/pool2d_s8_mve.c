/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool2d_s8_mve.c -- average and maximum of the elements inside a window, Helium: sums of four
 * channels at a time, maxima of sixteen.
 */
#include "cg_needs_mve.h"

#include "cg_mve_parts.h"

static void average_pixel(const cg_tap_grid_mve *grid, const int8_t *first, int8_t *output,
                          int32_t channels)
{
    const int32_t count = grid->rows * grid->columns;
    cg_s32 sums[4];
    for (int32_t c = 0; c < channels; c += 4) {
        const int32_t n = ((channels - c) < 4) ? (channels - c) : 4;
        cg_pool_sums_s8_mve(grid, &first[c], sums, n);
        for (int32_t i = 0; i < n; i++) {
            const int32_t half = (sums[i] > 0) ? (count / 2) : -(count / 2);
            const int32_t mean = (sums[i] + half) / count;
            output[c + i] = (int8_t)cg_clamp_s32(mean, grid->act_min, grid->act_max);
        }
    }
}

static void maximum_pixel(const cg_tap_grid_mve *grid, const int8_t *first, int8_t *output,
                          int32_t channels)
{
    for (int32_t c = 0; c < channels; c += 16) {
        const int32_t n = ((channels - c) < 16) ? (channels - c) : 16;
        cg_pool_maxima_s8_mve(grid, &first[c], &output[c], n);
    }
}

/* Columns [x, x + count), or with a step of -1 (x - count, x]; `output` is column x's. */
static void pool_columns(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                         int32_t y, int32_t x, int32_t count, int32_t step, bool is_average)
{
    const cg_window *const window = &params->window;
    cg_view view;
    cg_view_row(&view, window, y);
    const cg_tap_rows rows = cg_find_tap_rows(input, window, &view);
    cg_tap_grid_mve grid = {
        .step = rows.step,
        .wrap = rows.wrap - view.rows.first,
        .ring_bytes = rows.ring_bytes,
        .rows = view.rows.stop - view.rows.first,
        .channels = rows.pixel_bytes,
        .act_min = params->act_min,
        .act_max = params->act_max,
    };
    for (; count > 0; count--) {
        cg_view_col(&view, window, x);
        grid.columns = view.cols.stop - view.cols.first;
        const int8_t *const first = cg_first_tap(&rows, window, &view);
        if (is_average) {
            average_pixel(&grid, first, output, window->out.c);
        } else {
            maximum_pixel(&grid, first, output, window->out.c);
        }
        output += step * window->out.c;
        x += step;
    }
}

static void pool_forward(const cg_pool_params *params, const int8_t *input, int8_t *output,
                         bool is_average)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            pool_columns(params, &rows, output, y, 0, window->out.w, 1, is_average);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}

static void pool_backward(const cg_pool_params *params, const int8_t *input, int8_t *output,
                          bool is_average)
{
    const cg_window *const window = &params->window;
    output += (window->batch * cg_shape_elements(&window->out)) - window->out.c;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows rows = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            pool_columns(params, &rows, output, y, window->out.w - 1, window->out.w, -1,
                         is_average);
            output -= window->out.w * window->out.c;
        }
    }
}

void cg_avg_pool2d_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    pool_forward(params, input, output, true);
}

void cg_avg_pool2d_reverse_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    pool_backward(params, input, output, true);
}

void cg_avg_pool2d_s8_mve_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                              int32_t y, int32_t x_start, int32_t x_stop)
{
    pool_columns(params, input, output, y, x_start, x_stop - x_start, 1, true);
}

void cg_max_pool2d_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    pool_forward(params, input, output, false);
}

void cg_max_pool2d_reverse_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    pool_backward(params, input, output, false);
}

void cg_max_pool2d_s8_mve_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                              int32_t y, int32_t x_start, int32_t x_stop)
{
    pool_columns(params, input, output, y, x_start, x_stop - x_start, 1, false);
}
