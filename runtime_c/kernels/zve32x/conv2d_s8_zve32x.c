/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s8_zve32x.c -- a 2-D convolution in tiles of pixels, Zve32x: any window, stride, dilation,
 * padding.
 *
 * The rows and columns that a tile reads are copied into the workspace with their padding. Tiles
 * are of one row of results.
 */
#include "cg_needs_zve32x.h"

#include "cg_conv_rows.h"
#include "cg_zve32x_parts.h"

static void multiply(const cg_conv_params_zve32x *params, const cg_windows_zve32x *windows,
                     int32_t pixels, int8_t *output)
{
    if (pixels == 6) {
        cg_products6_s8_zve32x(&params->products, windows, output);
    } else if (pixels == 3) {
        cg_products3_s8_zve32x(&params->products, windows, output);
    } else {
        cg_products1_s8_zve32x(&params->products, windows, output);
    }
}

/* Pixels of the next tile where so many are left. */
static int32_t tile_size(const cg_conv_params_zve32x *params, int32_t left)
{
    return (left >= params->pixels) ? params->pixels : 1;
}

/* Windows and strides of 1: all pixels, of all images, are one row. */
static void run_pointwise(const cg_conv_params_zve32x *params, int8_t *workspace,
                          const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const cg_windows_zve32x windows = {
        .start = workspace,
        .pixel_step = window->in.c,
        .lines = 1,
        .line_bytes = window->in.c,
        .line_jump = 0,
    };
    int32_t left = window->batch * window->out.h * window->out.w;
    while (left > 0) {
        const int32_t size = tile_size(params, left);
        cg_copy_s8_zve32x(workspace, input, size * window->in.c);
        multiply(params, &windows, size, output);
        input += size * window->in.c;
        output += size * window->out.c;
        left -= size;
    }
}

/* Packs the values that the windows of a tile read, from (y, x) of the image on. */
static void pack(const cg_conv_params_zve32x *params, int8_t *to, const cg_rows *input,
                 const cg_columns_zve32x *columns, int32_t y)
{
    const cg_window *const window = &params->window;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const int32_t row = y + (ky * window->dilation_h);
        const int32_t line = (row < input->ring_rows) ? row : (row % input->ring_rows);
        const int32_t is_inside = (uint32_t)row < (uint32_t)window->in.h;
        cg_keep_columns_zve32x(columns, to,
                               (is_inside != 0) ? &input->base[line * input->row_bytes] : NULL,
                               input->x_origin);
        to += columns->count * columns->depth;
    }
}

void cg_conv2d_s8_zve32x_row(const cg_conv_params_zve32x *params, void *workspace,
                             const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                             int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const int32_t depth = window->in.c;
    cg_windows_zve32x windows = {
        .start = (const int8_t *)workspace,
        .pixel_step = window->stride_w * depth,
        .lines = window->kernel_h,
        .line_bytes = window->kernel_w * depth,
        .line_jump = 0,
    };
    cg_columns_zve32x columns = {
        .first = (x_start * window->stride_w) - window->pad_left,
        .count = 0,
        .width = window->in.w,
        .depth = depth,
        .step = depth,
        .zero = params->in_zero,
    };
    int32_t left = x_stop - x_start;
    while (left > 0) {
        const int32_t size = tile_size(params, left);
        columns.count = ((size - 1) * window->stride_w) + window->kernel_w;
        windows.line_jump = (columns.count * depth) - windows.line_bytes;
        pack(params, (int8_t *)workspace, input, &columns,
             (y * window->stride_h) - window->pad_top);
        multiply(params, &windows, size, output);
        output += size * window->out.c;
        columns.first += size * window->stride_w;
        left -= size;
    }
}

void cg_conv2d_s8_zve32x(const cg_conv_params_zve32x *params, void *workspace, const int8_t *input,
                         int8_t *output)
{
    const cg_window *const window = &params->window;
    if (cg_is_pointwise(window)) {
        run_pointwise(params, (int8_t *)workspace, input, output);
        return;
    }
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_conv2d_s8_zve32x_row(params, workspace, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}
