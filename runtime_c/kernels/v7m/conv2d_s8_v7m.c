/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s8_v7m.c -- 2-D convolution, int8, ARMv7-M: any window, stride, dilation, padding.
 *
 * This file brings the windows of two or four pixels into the workspace; conv_tile_s8_v7m.S does
 * the rest. Windows inside the image are packed straight from it, a row of taps at a time; what
 * others cover is first copied to a patch, with the padding around it.
 */
#include "cg_needs_v7m.h"

#include "cg_conv_rows.h"
#include "cg_v7m_parts.h"

/* Inlined, its loops over bytes have fewer registers at every level. */
#define APART __attribute__((noinline))

typedef struct {
    cg_tile_v7m tile;
    const cg_conv_params_v7m *params;
    int32_t *pixels;   /* of a full tile; those of a smaller one lie at the same end, */
    int32_t *few;      /* two pixels and fewer here */
    int32_t values;    /* of a window, an even number */
    int32_t is_odd;    /* the last one has no tap */
    int32_t step;      /* bytes in the image from one pixel's window to the next one's */
    int32_t in_start;  /* columns [in_start, in_stop) of the result have no tap in the padding */
    int32_t in_stop;   /* at the left or right */
    cg_tap_rows patch; /* the lines of a patch; `step` is of the last one copied */
} conv_layer;

static void start(conv_layer *layer, const cg_conv_params_v7m *params, void *workspace)
{
    const cg_window *const window = &params->window;
    const int32_t reach = (window->kernel_w - 1) * window->dilation_w;
    const int32_t last = window->in.w - 1 - reach + window->pad_left;
    const int32_t taps = window->kernel_h * window->kernel_w * window->in.c;
    layer->params = params;
    layer->values = (taps + 1) & ~1;
    layer->is_odd = taps % 2;
    layer->step = window->stride_w * window->in.c;
    layer->in_start = (window->pad_left + window->stride_w - 1) / window->stride_w;
    layer->in_stop = (last < 0) ? 0 : ((last / window->stride_w) + 1);
    layer->pixels = (int32_t *)workspace;
    layer->few = &layer->pixels[(params->tile == 4) ? layer->values : 0];
    layer->tile.weights = params->weights;
    layer->tile.channels = params->channels;
    layer->tile.range = &params->range;
}

/* Place for `count` packed pixels: at the end of the workspace, so that its end is used. */
static int32_t *place_tile(conv_layer *layer, int32_t count)
{
    int32_t *const pixels = (count > 2) ? layer->pixels : layer->few;
    layer->tile.pixels = pixels;
    return pixels;
}

/* The results of `count` packed pixels. */
static void run_tile(const conv_layer *layer, int8_t *output, int32_t count)
{
    const int32_t step = layer->params->window.out.c;
    if (count > 2) {
        cg_conv_tile4_s8_v7m(&layer->tile, output, step, (count == 4) ? step : 0);
    } else {
        cg_conv_tile2_s8_v7m(&layer->tile, output, (count == 2) ? step : 0);
    }
}

/* `values` of each of `count` pixels. One that is missing is the one before it. */
static int32_t *pack(const int8_t *source, int32_t step, int32_t count, int32_t *pixels,
                     int32_t values)
{
    if (count > 2) {
        cg_gather4_s8_v7m(source, pixels, values, step, (count == 4) ? step : 0);
        return &pixels[2 * values];
    }
    cg_gather2_s8_v7m(source, pixels, values, (count == 2) ? step : 0);
    return &pixels[values];
}

/* The value that has no tap meets a weight of 0; written so that all of the workspace is. */
static void finish(const conv_layer *layer, int32_t count, int32_t *pixels)
{
    if (layer->is_odd != 0) {
        pixels[0] = 0;
        pixels[(count > 2) ? 1 : 0] = 0;
    }
}

/* One row of taps, in one run where they are neighbours. */
static int32_t *pack_line(const conv_layer *layer, const int8_t *source, int32_t count,
                          int32_t *pixels)
{
    const cg_window *const window = &layer->params->window;
    const int32_t channels = window->in.c;
    if (window->dilation_w == 1) {
        return pack(source, layer->step, count, pixels, window->kernel_w * channels);
    }
    for (int32_t kx = window->kernel_w; kx > 0; kx--) {
        pixels = pack(source, layer->step, count, pixels, channels);
        source += window->dilation_w * channels;
    }
    return pixels;
}

/* Windows whose rows of taps begin at `line` and lie as `rows` says. */
static void pack_windows(const conv_layer *layer, const cg_tap_rows *rows, const int8_t *line,
                         int32_t count, int32_t *pixels)
{
    const cg_window *const window = &layer->params->window;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        line -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        pixels = pack_line(layer, line, count, pixels);
        line += rows->step;
    }
    finish(layer, count, pixels);
}

/* ---- windows that reach into the padding ---------------------------------------------- */

static int8_t *fill(int8_t *to, int32_t value, int32_t count)
{
    for (; count > 0; count--) {
        *to++ = (int8_t)value;
    }
    return to;
}

/* Columns of the image's row whose pixel `origin` is at `line`, NULL: padding; returns its end. */
static int8_t *copy_line(const conv_layer *layer, int8_t *to, const int8_t *line, int32_t origin,
                         cg_taps columns)
{
    const cg_conv_params_v7m *const params = layer->params;
    const int32_t channels = params->window.in.c;
    const int32_t width = params->window.in.w;
    const int32_t first = (columns.first < 0) ? 0 : columns.first;
    const int32_t end = (columns.stop > width) ? width : columns.stop;
    if ((line == NULL) || (end <= first)) {
        return fill(to, params->in_zero, (columns.stop - columns.first) * channels);
    }
    to = fill(to, params->in_zero, (first - columns.first) * channels);
    const int8_t *from = &line[(first - origin) * channels];
    int32_t left = (end - first) * channels;
    do {
        *to++ = *from++;
    } while (--left != 0);
    return fill(to, params->in_zero, (columns.stop - end) * channels);
}

/*
 * Copies the part of the image that `count` windows from column x on cover to a patch at the end of
 * the workspace: the pixels that are packed from it reach its beginning later than it is
 * read. Returns its address.
 */
APART static const int8_t *copy_patch(conv_layer *layer, const cg_conv_row *row, int32_t x,
                                      int32_t count)
{
    const cg_window *const window = &layer->params->window;
    const int32_t line_bytes = cg_patch_line_v7m(window, count);
    const cg_taps columns = {.first = x, .stop = x + (line_bytes / window->in.c)};
    const int32_t begin = layer->params->patch_end - (window->kernel_h * line_bytes);
    int8_t *const patch = &((int8_t *)layer->pixels)[begin];
    int8_t *to = patch;
    layer->patch.step = line_bytes;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        to = copy_line(layer, to, cg_tap_line(row, ky), row->rows.x_origin, columns);
    }
    return patch;
}

/* ---- rows ----------------------------------------------------------------------------- */

/* Sets up fields that all patches of a layer share: their lines are no ring. */
static void start_patches(conv_layer *layer)
{
    layer->patch.ring_bytes = 0;
    layer->patch.wrap = layer->params->window.kernel_h;
}

static void find_row(cg_conv_row *row, const cg_window *window, const cg_rows *input, int32_t y)
{
    cg_view view;
    cg_view_row(&view, window, y);
    row->taps = view.rows;
    row->rows = cg_find_tap_rows(input, window, &view);
    row->is_inside = (view.rows.stop - view.rows.first) == window->kernel_h;
}

static void run_row(conv_layer *layer, const cg_conv_row *row, int8_t *output, int32_t x_start,
                    int32_t x_stop)
{
    const cg_window *const window = &layer->params->window;
    const int32_t most = layer->params->tile;
    int32_t count;
    for (int32_t x = x_start; x < x_stop; x += count) {
        count = ((x_stop - x) < most) ? (x_stop - x) : most;
        const int32_t column = (x * window->stride_w) - window->pad_left;
        int32_t *const pixels = place_tile(layer, count);
        if (row->is_inside && (x >= layer->in_start) && ((x + count) <= layer->in_stop)) {
            const int32_t offset = (column - row->rows.x_origin) * window->in.c;
            pack_windows(layer, &row->rows, &row->rows.first[offset], count, pixels);
        } else {
            const int8_t *const patch = copy_patch(layer, row, column, count);
            pack_windows(layer, &layer->patch, patch, count, pixels);
        }
        run_tile(layer, output, count);
        output += count * window->out.c;
    }
}

void cg_conv2d_s8_v7m_row(const cg_conv_params_v7m *params, void *workspace, const cg_rows *input,
                          int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    conv_layer layer;
    cg_conv_row row;
    start(&layer, params, workspace);
    start_patches(&layer);
    find_row(&row, &params->window, input, y);
    run_row(&layer, &row, output, x_start, x_stop);
}

/* Window and strides 1: all pixels, of all images, are one row. */
static void run_pointwise(conv_layer *layer, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &layer->params->window;
    const int32_t most = layer->params->tile;
    int32_t count;
    for (int32_t left = window->batch * window->out.h * window->out.w; left > 0; left -= count) {
        count = (left < most) ? left : most;
        int32_t *const pixels = place_tile(layer, count);
        finish(layer, count, pack(input, layer->step, count, pixels, window->in.c));
        run_tile(layer, output, count);
        input += count * layer->step;
        output += count * window->out.c;
    }
}

void cg_conv2d_s8_v7m(const cg_conv_params_v7m *params, void *workspace, const int8_t *input,
                      int8_t *output)
{
    const cg_window *const window = &params->window;
    conv_layer layer;
    start(&layer, params, workspace);
    if (cg_is_pointwise(window)) {
        run_pointwise(&layer, input, output);
        return;
    }
    start_patches(&layer);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_conv_row row;
            find_row(&row, window, &rows, y);
            run_row(&layer, &row, output, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}
