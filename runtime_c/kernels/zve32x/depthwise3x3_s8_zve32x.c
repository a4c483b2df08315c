/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise3x3_s8_zve32x.c -- depthwise 3x3 convolution, stride 1 or 2, int8, Zve32x. Three rows of
 * the image are kept in the workspace with their padding.
 */
#include "cg_needs_zve32x.h"

#include "cg_conv_rows.h"
#include "cg_zve32x_parts.h"

enum { LINES = 3 };

/* Columns that so many results from column `first` on read, so many channels of each. */
static cg_columns_zve32x columns_of(const cg_depthwise_params_zve32x *params, int32_t first,
                                    int32_t results, int32_t channels)
{
    const cg_window *const window = &params->window;
    const cg_columns_zve32x columns = {
        .first = (first * window->stride_w) - window->pad_left,
        .count = ((results - 1) * window->stride_w) + window->kernel_w,
        .width = window->in.w,
        .depth = channels,
        .step = window->in.c,
        .zero = params->in_zero,
    };
    return columns;
}

void cg_depthwise3x3_s8_zve32x_row(const cg_depthwise_params_zve32x *params, void *workspace,
                                   const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                   int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const cg_columns_zve32x span = columns_of(params, x_start, x_stop - x_start, window->in.c);
    const int32_t line_bytes = span.count * window->in.c;
    cg_depthwise_rows_zve32x rows;
    rows.results = x_stop - x_start;
    rows.step = window->stride_w * window->in.c;
    rows.first = 0;
    rows.channels = window->in.c;
    for (int32_t ky = 0; ky < LINES; ky++) {
        const int32_t row = (y * window->stride_h) - window->pad_top + ky;
        int8_t *const to = &((int8_t *)workspace)[ky * line_bytes];
        const int8_t *const line = ((row < 0) || (row >= window->in.h))
                                       ? NULL
                                       : &input->base[(row % input->ring_rows) * input->row_bytes];
        cg_keep_columns_zve32x(&span, to, line, input->x_origin);
        rows.rows[ky] = to;
    }
    cg_depthwise3x3_rows_s8_zve32x(&params->products, &rows, output);
}

/* `channels` of an image from channel `first` on. */
static void run_group(const cg_depthwise_params_zve32x *params, int8_t *ring, const int8_t *input,
                      int8_t *output, int32_t first, int32_t channels)
{
    const cg_window *const window = &params->window;
    const cg_columns_zve32x span = columns_of(params, 0, window->out.w, channels);
    const int32_t line_bytes = span.count * channels;
    cg_depthwise_rows_zve32x rows = {
        .rows = {ring, ring, ring},
        .results = window->out.w,
        .step = window->stride_w * channels,
        .first = first,
        .channels = channels,
    };
    input += first;
    output += first;
    int32_t kept = 0; /* rows from the first one of the padding on */
    int32_t line = 0;
    for (int32_t y = 0; y < window->out.h; y++) {
        for (; kept < ((y * window->stride_h) + LINES); kept++) {
            const int32_t row = kept - window->pad_top;
            int8_t *const to = &ring[line * line_bytes];
            const int32_t is_inside = (row >= 0) && (row < window->in.h);
            cg_keep_columns_zve32x(
                &span, to, (is_inside != 0) ? &input[row * window->in.w * window->in.c] : NULL, 0);
            rows.rows[0] = rows.rows[1];
            rows.rows[1] = rows.rows[2];
            rows.rows[2] = to;
            line = (line == (LINES - 1)) ? 0 : (line + 1);
        }
        cg_depthwise3x3_rows_s8_zve32x(&params->products, &rows, output);
        output += window->out.w * window->out.c;
    }
}

void cg_depthwise3x3_s8_zve32x(const cg_depthwise_params_zve32x *params, void *workspace,
                               const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->in.c; c += params->group) {
            const int32_t left = window->in.c - c;
            run_group(params, (int8_t *)workspace, input, output, c,
                      (left < params->group) ? left : params->group);
        }
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}
