/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_f32_fpu.c -- depthwise convolution, float32, for cores with an FPU: multiplier
 * 1, at least four channels; any window, stride, dilation, padding. Contract: cg_kernels_fpu.h.
 */
#include "cg_fpu_parts.h"

/* Everything a tile needs besides its place. */
typedef struct {
    cg_tile_fpu tile;
    const float *stream;
    const float *last;    /* weights of the last four channels; NULL where they are a block */
    int32_t last_channel; /* the first of these */
} cg_depthwise_fpu;

static void one(const cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out)
{
    CG_DW1(&layer->tile, layer->stream, x, out);
    if (layer->last != NULL) {
        cg_tile_fpu last = layer->tile;
        last.blocks = 1;
        CG_DW1(&last, layer->last, &x[layer->last_channel], &out[layer->last_channel]);
    }
}

static void four(const cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out)
{
    CG_DW4(&layer->tile, layer->stream, x, out);
    if (layer->last != NULL) {
        cg_tile_fpu last = layer->tile;
        last.blocks = 1;
        CG_DW4(&last, layer->last, &x[layer->last_channel], &out[layer->last_channel]);
    }
}

/* `pixels` windows side by side: in fours, then one by one. */
static void several(const cg_depthwise_fpu *layer, const cg_f32 *x, cg_f32 *out, int32_t pixels)
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

/* The taps of `view`; returns where they begin in the image. */
static const cg_f32 *taps(cg_tile_fpu *tile, const cg_window *window, const cg_view *view,
                          const cg_f32 *input)
{
    cg_tile_taps(tile, window, view, 1);
    tile->run_len = view->cols.stop - view->cols.first;
    tile->x_gap = window->dilation_w * window->in.c * CG_F32_BYTES;
    return (tile->rows > 0) ? &input[cg_view_start(view, window)] : input;
}

/* Row view->y of the result: what is clipped left, what is not, what is clipped right. */
static void depthwise_row(cg_depthwise_fpu *layer, const cg_window *window, cg_view *view,
                          const cg_f32 *input, cg_f32 *output)
{
    const cg_taps inside = cg_inside_fpu(window);
    int32_t x = 0;
    while (x < window->out.w) {
        cg_view_col(view, window, x);
        const cg_f32 *const from = taps(&layer->tile, window, view, input);
        const bool is_inside = (x == inside.first) && (inside.stop > x);
        const int32_t pixels = is_inside ? (inside.stop - x) : 1;
        several(layer, from, output, pixels);
        output += pixels * window->out.c;
        x += pixels;
    }
}

void cg_depthwise_conv2d_f32_fpu(const cg_conv_params_fpu *params, const float *stream,
                                 const cg_f32 *input, cg_f32 *output)
{
    const cg_window *const window = &params->window;
    cg_depthwise_fpu layer = {.tile = cg_tile_of(params), .stream = stream};
    if ((window->out.c % CG_BLOCK_FPU) != 0) {
        const int32_t taps_and_bias = (window->kernel_h * window->kernel_w) + 1;
        layer.last = &stream[layer.tile.blocks * CG_BLOCK_FPU * taps_and_bias];
        layer.last_channel = window->out.c - CG_BLOCK_FPU;
    }
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            depthwise_row(&layer, window, &view, input, output);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}
