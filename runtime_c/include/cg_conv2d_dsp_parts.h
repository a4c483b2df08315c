/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_dsp_parts.h -- 2-D convolution, int8, DSP extension: any window, stride, dilation,
 * padding. The text of conv2d_s8_dsp.c, conv2d_2_s8_dsp.c and conv2d_1_s8_dsp.c, which say by
 * CONV2D, CONV2D_ROW and CONV2D_POINTWISE what their functions are called, and by MOST_PIXELS how
 * large a tile may be; conv2d_s4_dsp.c, which also says whose tiles these are and where their
 * stream ends; conv2d_u8_dsp.c, whose weights have a zero point (OF_UINT8).
 *
 * This brings the windows of up to four pixels into the workspace; tile{4,2,1}_s8_dsp.S do the
 * rest. Pixels of a multiple of four channels are read by words, a row of taps at a time where no
 * tap lies in the padding, else tap by tap; others byte by byte, from the image or from a patch.
 */
#ifndef CG_CONV2D_DSP_PARTS_H
#define CG_CONV2D_DSP_PARTS_H

#include "cg_conv_dsp_parts.h"
#include "cg_conv_rows.h"

#ifndef STREAM_END
#define TILE4      cg_tile4_s8_dsp
#define TILE2      cg_tile2_s8_dsp
#define TILE1      cg_tile1_s8_dsp
#define STREAM_END cg_stream_end_s8_dsp
#endif

/* True if `count` pixels are a tile of four, or of two; constant if tiles are smaller. */
#define IS_FOUR(count) ((MOST_PIXELS > 2) && ((count) > 2))
#define IS_TWO(count)  ((MOST_PIXELS > 1) && ((count) == 2))

#ifdef OF_UINT8
#define VALUE_GROUPS(layer) ((layer)->groups)
#else
#define VALUE_GROUPS(layer) ((layer)->tile.groups)
#endif

typedef struct {
    cg_tile_dsp tile;
    cg_conv_row row;
#ifdef OF_UINT8
    int32_t groups; /* of values: in the tile, groups of sums follow */
#endif
    const cg_conv_params *params;
    const cg_conv_weights_dsp *weights;
    int32_t *pixels;  /* of a full tile; those of a smaller one lie at the same end */
    int32_t step;     /* bytes in the image from one pixel's window to the next one's */
    int32_t in_start; /* columns [in_start, in_stop) of the result have no tap in the padding */
    int32_t in_stop;  /* at the left or right */
    const int16_t *offsets; /* of a window in the image; NULL: by words */
    int16_t *table;         /* room for them, in a row by itself */
    int8_t *patch;
} conv_layer;

/* Not inlined, so that the stack below a tile does not hold what widening needs. */
#define APART __attribute__((noinline))

/* is_row: of a row by itself, whose table of offsets is made anew. */
APART static void start(conv_layer *layer, const cg_conv_params *params,
                        const cg_conv_weights_dsp *weights, void *workspace, int32_t is_row)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->in.c;
    const int32_t reach = (window->kernel_w - 1) * window->dilation_w;
    const int32_t last = window->in.w - 1 - reach + window->pad_left;
    int8_t *place = (int8_t *)workspace;
    int32_t groups = window->kernel_h * window->kernel_w * channels;
    groups = (groups + 3) / 4;
    layer->params = params;
    layer->weights = weights;
    layer->step = window->stride_w * channels;
    layer->in_start = (window->pad_left + window->stride_w - 1) / window->stride_w;
    layer->in_stop = (last < 0) ? 0 : ((last / window->stride_w) + 1);
    layer->patch = place;
    layer->offsets = weights->image_offsets;
    layer->table = NULL;
    if (layer->weights->patch_offsets != NULL) {
        const int32_t line = cg_patch_line_dsp(window, layer->weights->tile);
        place += ((window->kernel_h * line) + 3) & ~3;
    }
    if ((is_row != 0) && (layer->offsets != NULL)) {
        layer->table = (cg_s16 *)(void *)place;
        layer->offsets = layer->table;
        place += 8 * groups;
    }
    layer->pixels = (int32_t *)(void *)place;
#ifdef OF_UINT8
    layer->groups = groups;
    groups += cg_sum_groups_dsp(groups);
#endif
    layer->tile.stream = weights->stream;
    layer->tile.pairs_end = STREAM_END(weights->stream, window->out.c, groups);
    layer->tile.groups = groups;
    layer->tile.out_zero = params->out_zero;
    layer->tile.is_odd = window->out.c % 2;
    layer->tile.act_min = params->act_min;
    layer->tile.act_max = params->act_max;
}

/* Pixels that are computed together with `count` of them to compute. */
static int32_t tile_of(int32_t count)
{
    return (count > 2) ? 4 : count;
}

/* Place for `count` widened pixels: at the end of the workspace, so that its end is used. */
static int32_t *place_tile(conv_layer *layer, int32_t count)
{
    const int32_t fewer = layer->weights->tile - tile_of(count);
    int32_t *const pixels = &layer->pixels[2 * layer->tile.groups * fewer];
    layer->tile.pixels = pixels;
    return pixels;
}

#ifdef OF_UINT8
/* Less the sum of so many words, each `step` words behind the last, of two values. */
static int32_t less_words(const int32_t *at, int32_t step, int32_t words)
{
    int32_t sum = 0;
    for (; words > 0; words--) {
        const int32_t word = *at;
        sum += (int16_t)word;
        sum += word >> 16;
        at += step;
    }
    return -sum;
}

/* Behind the values of each pixel, less their sums. */
APART static void append_sums(const conv_layer *layer, int32_t count)
{
    const int32_t lanes = tile_of(count);
    const int32_t words = 2 * layer->groups;
    int32_t *const pixels = &layer->pixels[2 * layer->tile.groups * (layer->weights->tile - lanes)];
    for (int32_t lane = 0; lane < lanes; lane++) {
        int32_t *to = &pixels[(words * lanes) + lane];
        int32_t done = 0;
        for (int32_t group = layer->groups; group < layer->tile.groups; group++) {
            for (int32_t half = 0; half < 2; half++) {
                int32_t pair[2];
                for (int32_t i = 0; i < 2; i++) {
                    const int32_t left = words - done;
                    const int32_t n = (left < CG_SUMMED_WORDS_DSP) ? left : CG_SUMMED_WORDS_DSP;
                    pair[i] = less_words(&pixels[(done * lanes) + lane], lanes, n);
                    done += n;
                }
                *to = (int32_t)(((uint32_t)pair[0] & 0xffffu) | ((uint32_t)pair[1] << 16));
                to += lanes;
            }
        }
    }
}
#endif

/* The results of `count` widened pixels. */
static void run_tile(const conv_layer *layer, int8_t *output, int32_t count)
{
    const int32_t step = layer->params->window.out.c;
#ifdef OF_UINT8
    append_sums(layer, count);
#endif
    if (IS_FOUR(count)) {
        TILE4(&layer->tile, output, step, (count == 4) ? step : 0);
    } else if (IS_TWO(count)) {
        TILE2(&layer->tile, output, step);
    } else {
        TILE1(&layer->tile, output);
    }
}

/* `groups` of each of `count` pixels, by words. A fourth one that is missing is the third. */
static void widen(const int8_t *source, int32_t step, int32_t count, int32_t *pixels,
                  int32_t groups)
{
    if (IS_FOUR(count)) {
        cg_gather4_s8_dsp(source, pixels, groups, step, (count == 4) ? step : 0);
    } else if (IS_TWO(count)) {
        cg_gather2_s8_dsp(source, pixels, groups, step);
    } else {
        cg_gather1_s8_dsp(source, pixels, groups, 4);
    }
}

/* Widens a window byte by byte, from the image or a patch. */
static void widen_bytes(const conv_layer *layer, const int8_t *source, const int16_t *offsets,
                        int32_t count, int32_t *pixels)
{
    const int32_t groups = VALUE_GROUPS(layer);
    const int32_t step = layer->step;
    if (IS_FOUR(count)) {
        const int32_t last_step = (count == 4) ? step : 0;
        cg_gather4_bytes_s8_dsp(source, pixels, groups, step, last_step, offsets);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        cg_gather1_bytes_s8_dsp(source, &pixels[i], groups, 4 * count, offsets);
        source += step;
    }
}

/* ---- windows inside the image --------------------------------------------------------- */

/* By words. x: column in the image of the first pixel's first tap. */
APART static void widen_inside(const conv_layer *layer, int32_t x, int32_t count, int32_t *pixels)
{
    const cg_conv_row *const row = &layer->row;
    const cg_window *const window = &layer->params->window;
    const int32_t channels = window->in.c;
    const int8_t *line = &row->rows.first[(x - row->rows.x_origin) * channels];
    const int32_t is_run = window->dilation_w == 1;
    const int32_t runs = is_run ? 1 : window->kernel_w;
    const int32_t groups = (is_run ? (window->kernel_w * channels) : channels) / 4;
    const int32_t words = 2 * groups * tile_of(count);
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        if (ky == row->rows.wrap) {
            line -= row->rows.ring_bytes;
        }
        const int8_t *source = line;
        for (int32_t run = 0; run < runs; run++) {
            widen(source, layer->step, count, pixels, groups);
            source += window->dilation_w * channels;
            pixels += words;
        }
        line += row->rows.step;
    }
}

/* Finds the values of a window in the lines of a ring, seen from its first one. */
static void find_offsets(const conv_layer *layer)
{
    const cg_conv_row *const row = &layer->row;
    const cg_window *const window = &layer->params->window;
    const int32_t values = 4 * VALUE_GROUPS(layer);
    int32_t line = 0;
    int32_t k = 0;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        line -= (ky == row->rows.wrap) ? row->rows.ring_bytes : 0;
        int32_t tap = line;
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            for (int32_t c = 0; c < window->in.c; c++) {
                layer->table[cg_place_dsp(k)] = (int16_t)(tap + c);
                k++;
            }
            tap += window->dilation_w * window->in.c;
        }
        line += row->rows.step;
    }
    for (; k < values; k++) {
        layer->table[cg_place_dsp(k)] = 0;
    }
}

/* ---- windows that reach into the padding ---------------------------------------------- */

/* By words, tap by tap. */
APART static void widen_taps(const conv_layer *layer, int32_t x, int32_t count, int32_t *pixels)
{
    const cg_conv_row *const row = &layer->row;
    const cg_window *const window = &layer->params->window;
    const int32_t channels = window->in.c;
    const int32_t groups = channels / 4;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const int8_t *const line = cg_tap_line(row, ky);
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            const int8_t *sources[4] = {layer->weights->padding, layer->weights->padding,
                                        layer->weights->padding, layer->weights->padding};
            int32_t column = x + (kx * window->dilation_w);
            for (int32_t i = 0; (line != NULL) && (i < 4); i++) {
                if ((column >= 0) && (column < window->in.w)) {
                    sources[i] = &line[(column - row->rows.x_origin) * channels];
                }
                column += ((i + 1) < count) ? window->stride_w : 0;
            }
            if (IS_FOUR(count)) {
                cg_gather4_apart_s8_dsp(sources, pixels, groups);
            } else {
                for (int32_t i = 0; i < count; i++) {
                    cg_gather1_s8_dsp(sources[i], &pixels[i], groups, 4 * count);
                }
            }
            pixels += 2 * groups * tile_of(count);
        }
    }
}

static int8_t *fill(int8_t *to, int32_t value, int32_t count)
{
    for (; count > 0; count--) {
        *to++ = (int8_t)value;
    }
    return to;
}

/* For bytes: what the windows cover is copied to the patch, with the padding around it. */
APART static void fill_patch(const conv_layer *layer, int32_t x, int32_t count)
{
    const cg_conv_row *const row = &layer->row;
    const cg_window *const window = &layer->params->window;
    const int32_t channels = window->in.c;
    const int32_t line_bytes = cg_patch_line_dsp(window, layer->weights->tile);
    const int32_t stop = x + (cg_patch_line_dsp(window, count) / channels);
    const int32_t first = (x < 0) ? 0 : x;
    const int32_t end = (stop > window->in.w) ? window->in.w : stop;
    const int32_t bytes = (end > first) ? ((end - first) * channels) : 0;
    const int32_t before = (bytes > 0) ? ((first - x) * channels) : 0;
    const int32_t behind = ((stop - x) * channels) - bytes - before;
    int8_t *patch = layer->patch;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const int8_t *const line = cg_tap_line(row, ky);
        if (line == NULL) {
            fill(patch, layer->params->in_zero, before + bytes + behind);
        } else {
            const int8_t *from = &line[(first - row->rows.x_origin) * channels];
            int8_t *to = fill(patch, layer->params->in_zero, before);
            for (int32_t i = 0; i < bytes; i++) {
                *to++ = *from++;
            }
            fill(to, layer->params->in_zero, behind);
        }
        patch += line_bytes;
    }
}

/* ---- rows ----------------------------------------------------------------------------- */

APART static void find_row(conv_layer *layer, const cg_rows *input, int32_t y)
{
    const cg_window *const window = &layer->params->window;
    cg_conv_row *const row = &layer->row;
    cg_view view;
    cg_view_row(&view, window, y);
    row->taps = view.rows;
    row->rows = cg_find_tap_rows(input, window, &view);
    row->is_inside = (view.rows.stop - view.rows.first) == window->kernel_h;
}

static void run_row(conv_layer *layer, int8_t *output, int32_t x_start, int32_t x_stop)
{
    const cg_conv_row *const row = &layer->row;
    const cg_window *const window = &layer->params->window;
    int32_t count;
    for (int32_t x = x_start; x < x_stop; x += count) {
        count = ((x_stop - x) < layer->weights->tile) ? (x_stop - x) : layer->weights->tile;
        const int32_t column = (x * window->stride_w) - window->pad_left;
        int32_t *const pixels = place_tile(layer, count);
        const bool is_inside =
            row->is_inside && (x >= layer->in_start) && ((x + count) <= layer->in_stop);
        if ((layer->offsets != NULL) && is_inside) {
            const int32_t first = (column - row->rows.x_origin) * window->in.c;
            widen_bytes(layer, &row->rows.first[first], layer->offsets, count, pixels);
        } else if (layer->offsets != NULL) {
            fill_patch(layer, column, count);
            widen_bytes(layer, layer->patch, layer->weights->patch_offsets, count, pixels);
        } else if (is_inside) {
            widen_inside(layer, column, count, pixels);
        } else {
            widen_taps(layer, column, count, pixels);
        }
        run_tile(layer, output, count);
        output += count * window->out.c;
    }
}

void CONV2D_ROW(const cg_conv_params *params, const cg_conv_weights_dsp *weights, void *workspace,
                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    conv_layer layer;
    start(&layer, params, weights, workspace, 1);
    find_row(&layer, input, y);
    if ((layer.table != NULL) && layer.row.is_inside) {
        find_offsets(&layer);
    }
    run_row(&layer, output, x_start, x_stop);
}

/* Window and strides 1, by words: all pixels, of all images, are one row. */
void CONV2D_POINTWISE(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                      void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    conv_layer layer;
    start(&layer, params, weights, workspace, 0);
    const int32_t out_step = weights->tile * window->out.c;
    const int32_t in_step = weights->tile * layer.step;
    int32_t left = window->batch * window->out.h * window->out.w;
    int32_t *pixels = place_tile(&layer, weights->tile);
    for (; left >= weights->tile; left -= weights->tile) {
        widen(input, layer.step, weights->tile, pixels, VALUE_GROUPS(&layer));
        run_tile(&layer, output, weights->tile);
        input += in_step;
        output += out_step;
    }
    if (left > 0) {
        pixels = place_tile(&layer, left);
        widen(input, layer.step, left, pixels, VALUE_GROUPS(&layer));
        run_tile(&layer, output, left);
    }
}

void CONV2D(const cg_conv_params *params, const cg_conv_weights_dsp *weights, void *workspace,
            const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    conv_layer layer;
    start(&layer, params, weights, workspace, 0);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            find_row(&layer, &rows, y);
            run_row(&layer, output, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}

#endif /* CG_CONV2D_DSP_PARTS_H */
