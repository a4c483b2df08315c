/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_fpu_parts.h -- 2-D convolution, float32, by tiles of pixels, for cores with an FPU.
 * Whoever includes it says, by CG_OF_HALVES, whether weights lie as float16.
 */
#ifndef CG_CONV2D_FPU_PARTS_H
#define CG_CONV2D_FPU_PARTS_H

#include "cg_fpu_parts.h"

#ifdef CG_OF_HALVES
#define CG_STREAM      uint16_t
#define CG_FOUR        cg_conv4_f32w16_fpu
#define CG_ONE         cg_conv1_f32w16_fpu
#define CG_SINGLE_FOUR cg_single4_f32w16_fpu
#define CG_SINGLE_ONE  cg_single1_f32w16_fpu
#else
#define CG_STREAM      float
#define CG_FOUR        CG_CONV4
#define CG_ONE         CG_CONV1
#define CG_SINGLE_FOUR cg_single4_f32_fpu
#define CG_SINGLE_ONE  cg_single1_f32_fpu
#endif

/* Weights in a float, which is the unit of a bias: a channel's weights and its bias. */
#define CG_STREAM_SHARE ((int32_t)(sizeof(float) / sizeof(CG_STREAM)))

/* Everything a tile needs besides its place. */
typedef struct {
    cg_tile_fpu tile;
    const CG_STREAM *stream;
    const CG_STREAM *singles; /* of channels that make no block */
    int32_t single;           /* the first of these */
} cg_conv_fpu;

/* The loops take a stream of any kind by its address. */
static const float *floats_of(const CG_STREAM *stream)
{
    return (const float *)(const void *)stream;
}

static void four(const cg_conv_fpu *conv, const cg_f32 *x, cg_f32 *out)
{
    if (conv->tile.blocks > 0) {
        CG_FOUR(&conv->tile, floats_of(conv->stream), x, out);
    }
    if (conv->tile.singles > 0) {
        CG_SINGLE_FOUR(&conv->tile, floats_of(conv->singles), x, &out[conv->single]);
    }
}

static void one(const cg_conv_fpu *conv, const cg_f32 *x, cg_f32 *out)
{
    if (conv->tile.blocks > 0) {
        CG_ONE(&conv->tile, floats_of(conv->stream), x, out);
    }
    if (conv->tile.singles > 0) {
        CG_SINGLE_ONE(&conv->tile, floats_of(conv->singles), x, &out[conv->single]);
    }
}

/* `pixels` windows side by side: in fours, then one by one. */
static void several(const cg_conv_fpu *conv, const cg_f32 *x, cg_f32 *out, int32_t pixels)
{
    const int32_t x_step = conv->tile.px_step / CG_F32_BYTES;
    const int32_t out_step = conv->tile.out_step / CG_F32_BYTES;
    for (; pixels >= CG_TILE_FPU; pixels -= CG_TILE_FPU) {
        four(conv, x, out);
        x += CG_TILE_FPU * x_step;
        out += CG_TILE_FPU * out_step;
    }
    for (; pixels > 0; pixels--) {
        one(conv, x, out);
        x += x_step;
        out += out_step;
    }
}

/* The taps of `view`; returns where they begin. */
static const cg_f32 *taps(cg_tile_fpu *tile, const cg_window *window, const cg_view *view,
                          const cg_tap_rows *lines)
{
    const int32_t cols = view->cols.stop - view->cols.first;
    const bool is_dense = window->dilation_w == 1;
    tile->runs = is_dense ? 1 : cols;
    tile->run_len = is_dense ? (cols * window->in.c) : window->in.c;
    tile->x_gap = (window->dilation_w - 1) * lines->pixel_bytes;
    const cg_f32 *const first = cg_tile_taps(tile, window, view, lines, window->in.c);
    tile->w_lead /= CG_STREAM_SHARE;
    tile->w_row_gap /= CG_STREAM_SHARE;
    tile->w_tail /= CG_STREAM_SHARE;
    return first;
}

static void start(cg_conv_fpu *conv, const cg_conv_params_fpu *params, const CG_STREAM *stream)
{
    const cg_window *const window = &params->window;
    const int32_t channel_len = window->kernel_h * window->kernel_w * window->in.c;
    cg_start_tile(&conv->tile, params, window->in.c * CG_F32_BYTES);
    conv->stream = stream;
    conv->single = conv->tile.blocks * CG_BLOCK_FPU;
    conv->singles = &stream[conv->single * (channel_len + CG_STREAM_SHARE)];
}

/* Computes a row: pixels clipped on the left, pixels inside, pixels clipped on the right. */
static void compute_row(const cg_conv_params_fpu *params, const CG_STREAM *stream,
                        const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                        int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const cg_taps inside = cg_inside_fpu(window, x_start, x_stop);
    cg_conv_fpu conv;
    start(&conv, params, stream);
    cg_view view;
    cg_view_row(&view, window, y);
    const cg_tap_rows lines = cg_find_tap_rows(input, window, &view);
    int32_t x = x_start;
    while (x < x_stop) {
        cg_view_col(&view, window, x);
        const cg_f32 *const from = taps(&conv.tile, window, &view, &lines);
        const bool is_inside = (x == inside.first) && (inside.stop > x);
        const int32_t pixels = is_inside ? (inside.stop - x) : 1;
        several(&conv, from, output, pixels);
        output += pixels * window->out.c;
        x += pixels;
    }
}

/* True if each result pixel reads the image pixel in its place alone: then all are one row. */
static bool is_pointwise(const cg_window *window)
{
    return (window->kernel_h == 1) && (window->kernel_w == 1) && (window->stride_h == 1) &&
           (window->stride_w == 1) && (window->pad_top == 0) && (window->pad_left == 0) &&
           (window->out.h == window->in.h) && (window->out.w == window->in.w);
}

static void convolved(const cg_conv_params_fpu *params, const CG_STREAM *stream,
                      const cg_f32 *input, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    if (is_pointwise(window)) {
        const cg_view view = {.rows = {0, 1}, .cols = {0, 1}};
        const cg_tap_rows lines = {.wrap = 1}; /* no tap has a next one */
        cg_conv_fpu conv;
        start(&conv, params, stream);
        (void)taps(&conv.tile, window, &view, &lines);
        several(&conv, input, output, window->batch * window->out.h * window->out.w);
        return;
    }
    cg_rows rows = cg_all_rows_f32(&window->in, input);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            compute_row(params, stream, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        rows.base += rows.ring_rows * rows.row_bytes;
    }
}

#endif
