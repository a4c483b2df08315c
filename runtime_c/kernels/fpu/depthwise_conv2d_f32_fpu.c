/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_f32_fpu.c -- depthwise convolution, float32, for cores with an FPU: multiplier
 * 1, at least four channels; any window, stride, dilation, padding. Contract: cg_kernels_fpu.h.
 */
#include "cg_needs_fpu.h"

#include "cg_fpu_parts.h"

/* Everything a tile needs besides its place. */
typedef struct {
    cg_tile_fpu tile;
    const float *stream;
    const float *last;    /* weights of the last four channels; NULL where they are a block */
    int32_t last_channel; /* the first of these */
} cg_depthwise_fpu;

static void one(cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out)
{
    const int32_t blocks = layer->tile.blocks;
    CG_DW1(&layer->tile, layer->stream, x, out);
    if (layer->last != NULL) {
        layer->tile.blocks = 1;
        CG_DW1(&layer->tile, layer->last, &x[layer->last_channel], &out[layer->last_channel]);
        layer->tile.blocks = blocks;
    }
}

static void four(cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out)
{
    const int32_t blocks = layer->tile.blocks;
    CG_DW4(&layer->tile, layer->stream, x, out);
    if (layer->last != NULL) {
        layer->tile.blocks = 1;
        CG_DW4(&layer->tile, layer->last, &x[layer->last_channel], &out[layer->last_channel]);
        layer->tile.blocks = blocks;
    }
}

/* `pixels` windows side by side: in fours, then one by one. */
static void several(cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out, int32_t pixels)
{
    const int32_t x_step = layer->tile.px_step / CG_F32_BYTES;
    const int32_t out_step = layer->tile.out_step / CG_F32_BYTES;
    for (; pixels >= CG_TILE_FPU; pixels -= CG_TILE_FPU) {
        four(layer, x, out);
        x += CG_TILE_FPU * x_step;
        out += CG_TILE_FPU * out_step;
    }
    for (; pixels > 0; pixels--) {
        one(layer, x, out);
        x += x_step;
        out += out_step;
    }
}

/* Row y of the result: what is clipped left, what is not, what is clipped right. */
static void depthwise_row(cg_depthwise_fpu *layer, const cg_window *window, const cg_rows *input,
                          cg_f32 *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_taps inside = cg_inside_fpu(window, x_start, x_stop);
    cg_tile_fpu *const tile = &layer->tile;
    cg_view view;
    cg_view_row(&view, window, y);
    const cg_tap_rows lines = cg_find_tap_rows(input, window, &view);
    tile->x_gap = window->dilation_w * lines.pixel_bytes;
    int32_t x = x_start;
    while (x < x_stop) {
        cg_view_col(&view, window, x);
        tile->run_len = view.cols.stop - view.cols.first;
        const cg_f32 *const from = cg_tile_taps(tile, window, &view, &lines, 1);
        const bool is_inside = (x == inside.first) && (inside.stop > x);
        const int32_t pixels = is_inside ? (inside.stop - x) : 1;
        several(layer, from, output, pixels);
        output += pixels * window->out.c;
        x += pixels;
    }
}

static int32_t block_len(const cg_window *window)
{
    return ((window->kernel_h * window->kernel_w) + 1) * CG_BLOCK_FPU;
}

static void start(cg_depthwise_fpu *layer, const cg_conv_params_fpu *params, const float *stream)
{
    const cg_window *const window = &params->window;
    cg_start_tile(&layer->tile, params, window->in.c * CG_F32_BYTES);
    layer->stream = stream;
    layer->last = NULL;
    layer->last_channel = window->out.c - CG_BLOCK_FPU;
    if ((window->out.c % CG_BLOCK_FPU) != 0) {
        layer->last = &stream[layer->tile.blocks * block_len(window)];
    }
}

void cg_depthwise_conv2d_f32_fpu_row(const cg_conv_params_fpu *params, const float *stream,
                                     const cg_rows *input, cg_f32 *output, int32_t y,
                                     int32_t x_start, int32_t x_stop)
{
    cg_depthwise_fpu layer;
    start(&layer, params, stream);
    depthwise_row(&layer, &params->window, input, output, y, x_start, x_stop);
}

void cg_depthwise_conv2d_f32_fpu(const cg_conv_params_fpu *params, const float *stream,
                                 const cg_f32 *input, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    cg_depthwise_fpu layer;
    start(&layer, params, stream);
    cg_rows rows = cg_all_rows_f32(&window->in, input);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            depthwise_row(&layer, window, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        rows.base += rows.ring_rows * rows.row_bytes;
    }
}

/* Four channels of a row of the image, side by side into the ring. */
static void load_row(const cg_window *window, const cg_f32 *image, cg_f32 *row)
{
    for (int32_t n = window->in.w; n > 0; n--) {
        const float a = image[0];
        const float b = image[1];
        const float c = image[2];
        const float d = image[3];
        row[0] = a;
        row[1] = b;
        row[2] = c;
        row[3] = d;
        row += CG_BLOCK_FPU;
        image += window->in.c;
    }
}

/* Replaces four channels of an image by the results; `image` is the first of the four. */
static void replace_block(cg_depthwise_fpu *layer, const cg_window *window, cg_f32 *ring,
                          cg_f32 *image)
{
    const int32_t row_len = window->in.w * CG_BLOCK_FPU;
    const cg_rows rows = {
        .base = (const int8_t *)ring,
        .row_bytes = row_len * CG_F32_BYTES,
        .ring_rows = cg_covered_rows(window),
        .x_origin = 0,
        .pixel_bytes = CG_BLOCK_BYTES,
    };
    const int32_t below = ((window->kernel_h - 1) * window->dilation_h) - window->pad_top;
    const cg_f32 *next = image;
    int32_t line = 0;
    int32_t loaded = 0;
    for (int32_t y = 0; y < window->out.h; y++) {
        for (; (loaded <= (y + below)) && (loaded < window->in.h); loaded++) {
            load_row(window, next, &ring[line * row_len]);
            next += window->in.w * window->in.c;
            line = (line == (rows.ring_rows - 1)) ? 0 : (line + 1);
        }
        depthwise_row(layer, window, &rows, image, y, 0, window->out.w);
        image += window->out.w * window->out.c;
    }
}

void cg_depthwise_in_place_f32_fpu(const cg_conv_params_fpu *params, const float *stream,
                                   cg_f32 *image, void *workspace)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        cg_depthwise_fpu layer = {.stream = stream};
        cg_start_tile(&layer.tile, params, CG_BLOCK_BYTES);
        layer.tile.blocks = 1;
        for (int32_t c = 0; c < window->out.c; c += CG_BLOCK_FPU) {
            replace_block(&layer, window, workspace, &image[c]);
            layer.stream += block_len(window);
        }
        image += cg_shape_elements(&window->in);
    }
}
