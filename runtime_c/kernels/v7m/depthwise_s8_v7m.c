/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_s8_v7m.c -- depthwise convolution, int8, ARMv7-M, any window: where the taps of each
 * pixel lie. depthwise_block_s8_v7m.S does the rest.
 */
#include "cg_needs_v7m.h"

#include <string.h>

#include "cg_kernel_parts.h"
#include "cg_v7m_parts.h"

#define MANY 8 /* bytes that memcpy copies in fewer instructions than a loop */

typedef struct {
    const cg_window *window;
    cg_rows input;
    const int8_t *pad; /* a pixel of padding */
    cg_block_v7m block;
    cg_tap_address *taps; /* of the block: at the end of the table, so that its end is used */
    cg_tap_address *table;
    int32_t next;     /* bytes in the image from a pixel's window to the next one's in its row */
    int32_t out_step; /* bytes from a pixel of the result to the next */
} layer_state;

/* The next pixel to compute. */
typedef struct {
    int32_t y;
    int32_t x;
} pixel_place;

static void start(layer_state *layer, const cg_dw_params_v7m *params, void *workspace,
                  const cg_rows *input)
{
    const cg_window *const window = &params->window;
    layer->window = window;
    layer->input = *input;
    layer->pad = params->pad;
    layer->table = (cg_tap_address *)workspace;
    layer->next = window->stride_w * input->pixel_bytes;
    layer->out_step = window->out.c;
    layer->block.weights = params->weights;
    layer->block.channels = params->channels;
    layer->block.count = window->kernel_h * window->kernel_w;
    layer->block.range = &params->range;
}

/* ---- where taps lie ----------------------------------------------------------------------- */

static const int8_t *row_of(const layer_state *layer, int32_t y)
{
    return &layer->input.base[(y % layer->input.ring_rows) * layer->input.row_bytes];
}

/* The taps of one pixel, in every `pixels`-th address from `to` on. */
static void find_taps(const layer_state *layer, cg_tap_address *to, int32_t pixels, pixel_place at)
{
    const cg_window *const window = layer->window;
    const int8_t *const pad = layer->pad;
    const int32_t channels = layer->input.pixel_bytes;
    const int32_t step = window->dilation_w * channels;
    const int32_t first = (at.x * window->stride_w) - window->pad_left;
    int32_t y = (at.y * window->stride_h) - window->pad_top;
    for (int32_t ky = window->kernel_h; ky > 0; ky--) {
        if ((y < 0) || (y >= window->in.h)) {
            for (int32_t kx = window->kernel_w; kx > 0; kx--) {
                *to = pad;
                to += pixels;
            }
        } else {
            const int8_t *const row = row_of(layer, y);
            int32_t offset = (first - layer->input.x_origin) * channels;
            int32_t x = first;
            for (int32_t kx = window->kernel_w; kx > 0; kx--) {
                *to = ((uint32_t)x < (uint32_t)window->in.w) ? &row[offset] : pad;
                to += pixels;
                x += window->dilation_w;
                offset += step;
            }
        }
        y += window->dilation_h;
    }
}

/* Taps inside the image: of four neighbours (or three, the last one again), of two or of one. */
static void find_inner_taps(const layer_state *layer, int32_t pixels, int32_t most, pixel_place at)
{
    const cg_window *const window = layer->window;
    const int32_t step = window->dilation_w * layer->input.pixel_bytes;
    const int32_t first = (at.x * window->stride_w) - window->pad_left - layer->input.x_origin;
    const int32_t last = (most - 1) * layer->next;
    cg_tap_address *to = layer->taps;
    int32_t y = (at.y * window->stride_h) - window->pad_top;
    for (int32_t ky = window->kernel_h; ky > 0; ky--) {
        const int8_t *tap = &row_of(layer, y)[first * layer->input.pixel_bytes];
        for (int32_t kx = window->kernel_w; kx > 0; kx--) {
            to[0] = tap;
            if (pixels > 1) {
                to[1] = &tap[layer->next];
            }
            if (pixels == 4) {
                to[2] = &tap[2 * layer->next];
                to[3] = &tap[last];
            }
            to += pixels;
            tap += step;
        }
        y += window->dilation_h;
    }
}

/* Pixels from `at` on whose windows are inside the image, in their row. */
static int32_t inner_pixels(const layer_state *layer, pixel_place at)
{
    const cg_window *const window = layer->window;
    const int32_t top = (at.y * window->stride_h) - window->pad_top;
    const int32_t first = (at.x * window->stride_w) - window->pad_left;
    const int32_t last = window->in.w - 1 - ((window->kernel_w - 1) * window->dilation_w);
    if ((top < 0) || ((top + ((window->kernel_h - 1) * window->dilation_h)) >= window->in.h) ||
        (first < 0) || (first > last)) {
        return 0;
    }
    const int32_t inside = ((last - first) / window->stride_w) + 1;
    const int32_t left = window->out.w - at.x;
    return (inside < left) ? inside : left;
}

/* ---- pixels ------------------------------------------------------------------------------- */

static pixel_place next_place(const layer_state *layer, pixel_place at)
{
    pixel_place next = {.y = at.y, .x = at.x + 1};
    if (next.x == layer->window->out.w) {
        next.x = 0;
        next.y++;
    }
    return next;
}

/* The table of `most` pixels from `at` on, wherever they are; returns the place behind them. */
static pixel_place find_any_taps(const layer_state *layer, int32_t pixels, int32_t most,
                                 pixel_place at)
{
    for (int32_t i = 0; i < pixels; i++) {
        find_taps(layer, &layer->taps[i], pixels, at);
        if ((i + 1) < most) {
            at = next_place(layer, at);
        }
    }
    return next_place(layer, at);
}

/* `count` pixels in row-major order. */
static void run_pixels(layer_state *layer, int8_t *output, pixel_place at, int32_t count)
{
    while (count > 0) {
        const int32_t most = (count > 4) ? 4 : count;
        const int32_t pixels = (most > 2) ? 4 : most;
        const int32_t inner = inner_pixels(layer, at);
        int32_t blocks = 1;
        layer->taps = &layer->table[(4 - pixels) * layer->block.count];
        layer->block.taps = layer->taps;
        if (inner >= most) {
            blocks = ((inner < count) ? inner : count) / most;
            find_inner_taps(layer, pixels, most, at);
            at.x += (most * blocks) - 1;
            at = next_place(layer, at);
        } else {
            at = find_any_taps(layer, pixels, most, at);
        }
        layer->block.step = layer->out_step;
        layer->block.last_step = (most - 1) * layer->out_step;
        for (int32_t i = 0; i < blocks; i++) {
            if (pixels == 4) {
                cg_depthwise4_s8_v7m(&layer->block, output, most * i * layer->next);
            } else if (pixels == 2) {
                cg_depthwise2_s8_v7m(&layer->block, output, 0);
            } else {
                cg_depthwise1_s8_v7m(&layer->block, output, 0);
            }
            output += most * layer->out_step;
        }
        count -= most * blocks;
    }
}

void cg_depthwise_s8_v7m_row(const cg_dw_params_v7m *params, void *workspace, const cg_rows *input,
                             int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    layer_state layer;
    const pixel_place at = {.y = y, .x = x_start};
    start(&layer, params, workspace, input);
    run_pixels(&layer, output, at, x_stop - x_start);
}

void cg_depthwise_s8_v7m(const cg_dw_params_v7m *params, void *workspace, const int8_t *input,
                         int8_t *output)
{
    const cg_window *const window = &params->window;
    const pixel_place first = {.y = 0, .x = 0};
    for (int32_t b = 0; b < window->batch; b++) {
        layer_state layer;
        const cg_rows rows = cg_all_rows(&window->in, input);
        start(&layer, params, workspace, &rows);
        run_pixels(&layer, output, first, window->out.h * window->out.w);
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}

/* ---- in place ----------------------------------------------------------------------------- */

/* Row y of a padded image, channels from that at `image` on, to its place in the ring. */
static void keep_row(const layer_state *layer, const cg_window *window, int8_t *ring,
                     const int8_t *image, int32_t y)
{
    const int32_t channels = layer->input.pixel_bytes;
    const int32_t row = y - window->pad_top;
    const int8_t *from = &image[row * window->in.w * window->in.c];
    int8_t *to = &ring[(y % layer->input.ring_rows) * layer->input.row_bytes];
    for (int32_t x = 0; x < layer->window->in.w; x++) {
        const int32_t column = x - window->pad_left;
        const int32_t is_inside =
            (row >= 0) && (row < window->in.h) && (column >= 0) && (column < window->in.w);
        const int8_t *const pixel = (is_inside != 0) ? &from[column * window->in.c] : layer->pad;
        if (channels >= MANY) {
            memcpy(to, pixel, (size_t)channels);
        } else {
            for (int32_t c = 0; c < channels; c++) {
                to[c] = pixel[c];
            }
        }
        to += channels;
    }
}

/* The channels of a group of one image, that at `image` and those behind it. */
static void run_group(layer_state *layer, const cg_window *window, int8_t *ring, int8_t *image)
{
    const int32_t below = layer->input.ring_rows - 1; /* rows read below a window's first one */
    pixel_place at = {.y = 0, .x = 0};
    for (int32_t y = 0; y < below; y++) {
        keep_row(layer, window, ring, image, y);
    }
    for (; at.y < window->out.h; at.y++) {
        keep_row(layer, window, ring, image, at.y + below);
        run_pixels(layer, &image[at.y * window->out.w * window->out.c], at, window->out.w);
    }
}

void cg_depthwise_in_place_s8_v7m(const cg_dw_params_v7m *params, void *workspace, int8_t *image)
{
    const cg_window *const window = &params->window;
    const int32_t taps = window->kernel_h * window->kernel_w;
    int8_t *const ring = &((int8_t *)workspace)[16 * taps];
    cg_window padded = *window; /* rows are kept with the padding around them */
    padded.in.h = window->in.h + ((window->kernel_h - 1) * window->dilation_h);
    padded.in.w = window->in.w + ((window->kernel_w - 1) * window->dilation_w);
    padded.pad_top = 0;
    padded.pad_left = 0;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->out.c; c += params->group) {
            const int32_t left = window->out.c - c;
            const int32_t channels = (left < params->group) ? left : params->group;
            const cg_rows rows = {
                .base = ring,
                .row_bytes = padded.in.w * channels,
                .ring_rows = ((window->kernel_h - 1) * window->dilation_h) + 1,
                .x_origin = 0,
                .pixel_bytes = channels,
            };
            layer_state layer;
            start(&layer, params, workspace, &rows);
            layer.window = &padded;
            layer.block.weights = &params->weights[c * taps];
            layer.block.channels = &params->channels[c * CG_DW_WORDS_V7M];
            run_group(&layer, window, ring, &image[c]);
        }
        image += cg_shape_elements(&window->in);
    }
}
