/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s8_v6m.c -- 2-D convolution, int8, ARMv6-M: any window, stride, dilation, padding.
 *
 * This file brings the windows of two or four pixels into the workspace, as pairs; tile_s8_v6m.S
 * does the rest. Where no tap lies in the padding a row of taps is one run of bytes, elsewhere each
 * tap is fetched by itself, from a pixel of zero points if it lies in the padding.
 */
#include "cg_needs_v6m.h"

#include "cg_conv_rows.h"
#include "cg_conv_v6m_parts.h"

typedef struct {
    cg_tile_v6m tile;
    const cg_window *window;
    int32_t *pixels;  /* of a full tile; those of a smaller one lie at the same end */
    int32_t most;     /* pixels at once */
    int32_t step;     /* bytes in the image from one pixel's window to the next one's */
    int32_t in_start; /* columns [in_start, in_stop) of the result have no tap in the padding */
    int32_t in_stop;  /* at the left or right */
    int32_t values;   /* of a window */
    const int8_t *padding;
} conv_layer;

static void start(conv_layer *layer, const cg_conv_params *params,
                  const cg_conv_weights_v6m *weights, void *workspace)
{
    const cg_window *const window = &params->window;
    const int32_t reach = (window->kernel_w - 1) * window->dilation_w;
    const int32_t last = window->in.w - 1 - reach + window->pad_left;
    layer->window = window;
    layer->pixels = (int32_t *)workspace;
    layer->most = weights->tile;
    layer->step = window->stride_w * window->in.c;
    layer->in_start = (window->pad_left + window->stride_w - 1) / window->stride_w;
    layer->in_stop = (last < 0) ? 0 : ((last / window->stride_w) + 1);
    layer->values = window->kernel_h * window->kernel_w * window->in.c;
    layer->padding = weights->padding;
    layer->tile.row_bytes = (layer->values + 3) & ~3;
    layer->tile.stream = weights->stream;
    /* a bias, the weights, four numbers */
    layer->tile.stream_end = &weights->stream[window->out.c * ((layer->tile.row_bytes / 4) + 5)];
    layer->tile.middle = weights->middle;
    layer->tile.act_min = params->act_min;
    layer->tile.act_max = params->act_max;
    layer->tile.out_zero = params->out_zero;
}

/* Place for `count` paired pixels: at the end of the workspace, so that its end is used. */
static int32_t *place_tile(conv_layer *layer, int32_t count)
{
    const int32_t unused = ((layer->most > 2) && (count <= 2)) ? layer->tile.row_bytes : 0;
    layer->tile.pixels = &layer->pixels[unused];
    return &layer->pixels[unused];
}

/* `count` bytes of each source, paired; where the pairs go on. */
static int32_t *pair(const int8_t *const sources[4], int32_t pixels, int32_t *pairs, int32_t count)
{
    if (pixels > 2) {
        cg_pair4_s8_v6m(sources, pairs, count);
        return &pairs[2 * count];
    }
    cg_pair2_s8_v6m(sources, pairs, count);
    return &pairs[count];
}

/* The results of `count` paired pixels; behind their windows' values, `pairs` is cleared. */
static void run_tile(const conv_layer *layer, int32_t *pairs, int8_t *output, int32_t count)
{
    const int32_t step = layer->window->out.c;
    const int32_t rest = layer->tile.row_bytes - layer->values;
    for (int32_t i = ((count > 2) ? (2 * rest) : rest) - 1; i >= 0; i--) {
        pairs[i] = 0;
    }
    if (count > 2) {
        cg_tile4_s8_v6m(&layer->tile, output, step, (count == 4) ? step : 0);
    } else {
        cg_tile2_s8_v6m(&layer->tile, output, (count == 2) ? step : 0);
    }
}

/* `count` pixels, `step` bytes apart; pixels of the tile that are missing are the last one. */
static void spread(const int8_t *sources[4], const int8_t *first, int32_t step, int32_t count)
{
    for (int32_t i = 0; i < 4; i++) {
        sources[i] = first;
        first += ((i + 1) < count) ? step : 0;
    }
}

/* Windows inside the image. x: column in the image of the first pixel's first tap. */
static int32_t *pair_inside(const conv_layer *layer, const cg_conv_row *row, int32_t x,
                            int32_t count, int32_t *pairs)
{
    const cg_window *const window = layer->window;
    const int32_t is_run = window->dilation_w == 1;
    const int32_t runs = is_run ? 1 : window->kernel_w;
    const int32_t bytes = is_run ? (window->kernel_w * window->in.c) : window->in.c;
    const int8_t *line = &row->rows.first[(x - row->rows.x_origin) * window->in.c];
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        if (ky == row->rows.wrap) {
            line -= row->rows.ring_bytes;
        }
        const int8_t *source = line;
        for (int32_t run = 0; run < runs; run++) {
            const int8_t *sources[4];
            spread(sources, source, layer->step, count);
            pairs = pair(sources, count, pairs, bytes);
            source += window->dilation_w * window->in.c;
        }
        line += row->rows.step;
    }
    return pairs;
}

/* Windows that reach into the padding, tap by tap. */
static int32_t *pair_taps(const conv_layer *layer, const cg_conv_row *row, int32_t x, int32_t count,
                          int32_t *pairs)
{
    const cg_window *const window = layer->window;
    const int32_t channels = window->in.c;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const int8_t *const line = cg_tap_line(row, ky);
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            const int8_t *sources[4] = {layer->padding, layer->padding, layer->padding,
                                        layer->padding};
            int32_t column = x + (kx * window->dilation_w);
            for (int32_t i = 0; (line != NULL) && (i < 4); i++) {
                if ((column >= 0) && (column < window->in.w)) {
                    sources[i] = &line[(column - row->rows.x_origin) * channels];
                }
                column += ((i + 1) < count) ? window->stride_w : 0;
            }
            pairs = pair(sources, count, pairs, channels);
        }
    }
    return pairs;
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
    const cg_window *const window = layer->window;
    int32_t count;
    for (int32_t x = x_start; x < x_stop; x += count) {
        count = ((x_stop - x) < layer->most) ? (x_stop - x) : layer->most;
        const int32_t column = (x * window->stride_w) - window->pad_left;
        int32_t *pairs = place_tile(layer, count);
        if (row->is_inside && (x >= layer->in_start) && ((x + count) <= layer->in_stop)) {
            pairs = pair_inside(layer, row, column, count, pairs);
        } else {
            pairs = pair_taps(layer, row, column, count, pairs);
        }
        run_tile(layer, pairs, output, count);
        output += count * window->out.c;
    }
}

void cg_conv2d_s8_v6m_row(const cg_conv_params *params, const cg_conv_weights_v6m *weights,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop)
{
    conv_layer layer;
    cg_conv_row row;
    start(&layer, params, weights, workspace);
    find_row(&row, layer.window, input, y);
    run_row(&layer, &row, output, x_start, x_stop);
}

/* Window and strides 1: all pixels, of all images, are one row. */
static void run_pointwise(conv_layer *layer, const int8_t *input, int8_t *output)
{
    const cg_window *const window = layer->window;
    int32_t left = window->batch * window->out.h * window->out.w;
    int32_t count;
    for (; left > 0; left -= count) {
        const int8_t *sources[4];
        count = (left < layer->most) ? left : layer->most;
        spread(sources, input, layer->step, count);
        int32_t *const pairs = pair(sources, count, place_tile(layer, count), layer->values);
        run_tile(layer, pairs, output, count);
        input += count * layer->step;
        output += count * window->out.c;
    }
}

void cg_conv2d_s8_v6m(const cg_conv_params *params, const cg_conv_weights_v6m *weights,
                      void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    conv_layer layer;
    start(&layer, params, weights, workspace);
    if (cg_is_pointwise(window)) {
        run_pointwise(&layer, input, output);
        return;
    }
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
