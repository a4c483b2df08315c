/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_s16_dsp_parts.h -- 2-D convolution, int16 image, int8 weights, DSP extension: any
 * stride, dilation, padding. Windows are copied to the workspace, where taps in the padding are
 * the zero point. Whoever includes it names the function (CONV2D), its tiles (TILE4, TILE1)
 * and what is read in the padding: the word of two zero points or 0 (PAD).
 */
#ifndef CG_CONV2D_S16_DSP_PARTS_H
#define CG_CONV2D_S16_DSP_PARTS_H

#include "cg_conv_s16_dsp.h"
#include "cg_kernel_parts.h"

/* Place for pairs of values, `pitch` words apart (4: one of four pixels; 1: a pixel alone). */
typedef struct {
    cg_s32 *to;
    int32_t pitch;
    int32_t fill; /* a word of the padding */
} word_place;

static void copy_words(word_place *place, const cg_s32 *from, int32_t n)
{
    cg_s32 *to = place->to;
    const int32_t pitch = place->pitch;
    for (int32_t pairs = n / 2; pairs > 0; pairs--) {
        const int32_t first = from[0];
        const int32_t second = from[1];
        from += 2;
        *to = first;
        to += pitch;
        *to = second;
        to += pitch;
    }
    if ((n % 2) != 0) {
        *to = *from;
        to += pitch;
    }
    place->to = to;
}

static void clear_words(word_place *place, int32_t n)
{
    for (; n > 0; n--) {
        *place->to = PAD(place->fill);
        place->to += place->pitch;
    }
}

/* A row of taps, by whole words: in.c is even. `row` is NULL in the padding. */
static void gather_row(const cg_window *window, const cg_view *view, const cg_s16 *row,
                       word_place *place)
{
    const int32_t pair_count = window->in.c / 2;
    const int32_t inside = (row == NULL) ? 0 : (view->cols.stop - view->cols.first);
    if (inside <= 0) {
        clear_words(place, window->kernel_w * pair_count);
        return;
    }
    clear_words(place, view->cols.first * pair_count);
    const int32_t runs = (window->dilation_w == 1) ? 1 : inside;
    const int32_t run_len = (inside / runs) * pair_count;
    for (int32_t i = 0; i < runs; i++) {
        copy_words(place, (const cg_s32 *)(const void *)row, run_len);
        row += window->dilation_w * window->in.c;
    }
    clear_words(place, (window->kernel_w - view->cols.stop) * pair_count);
}

/* A row of taps value by value, from value `k` of the window on; returns the next one's number. */
static int32_t gather_row_values(const cg_window *window, const cg_view *view, const cg_s16 *row,
                                 const word_place *place, int32_t k)
{
    cg_s16 *const to = (cg_s16 *)place->to;
    for (int32_t kx = 0; kx < window->kernel_w; kx++) {
        const bool inside = (row != NULL) && (kx >= view->cols.first) && (kx < view->cols.stop);
        for (int32_t c = 0; c < window->in.c; c++) {
            to[((k >> 1) * (2 * place->pitch)) + (k & 1)] =
                inside ? row[c] : (int16_t)PAD(place->fill);
            k++;
        }
        if (inside) {
            row += window->dilation_w * window->in.c;
        }
    }
    return k;
}

/* The window at `view`, all of it. */
static void gather(const cg_window *window, const cg_view *view, const cg_s16 *image, cg_s32 *to,
                   int32_t pitch, int32_t fill)
{
    word_place place = {.to = to, .pitch = pitch, .fill = fill};
    int32_t k = 0;
    const bool any = (view->rows.stop > view->rows.first) && (view->cols.stop > view->cols.first);
    const cg_s16 *row = any ? &image[cg_view_start(view, window)] : NULL;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const bool inside = any && (ky >= view->rows.first) && (ky < view->rows.stop);
        const cg_s16 *const taps = inside ? row : NULL;
        if ((window->in.c % 2) == 0) {
            gather_row(window, view, taps, &place);
        } else {
            k = gather_row_values(window, view, taps, &place, k);
        }
        if (inside) {
            row += window->dilation_h * window->in.w * window->in.c;
        }
    }
    if ((k % 2) != 0) {
        ((cg_s16 *)to)[((k >> 1) * (2 * pitch)) + 1] = 0;
    }
}

/* The windows of a tile one by one, the last one of three twice. */
static void gather_each(const cg_window *window, cg_view *view, const cg_s16 *image,
                        cg_s32 *workspace, int32_t x, int32_t count, int32_t fill)
{
    const int32_t pitch = (count > 1) ? 4 : 1;
    for (int32_t pixel = 0; pixel < pitch; pixel++) {
        cg_view_col(view, window, x + ((pixel < count) ? pixel : (count - 1)));
        gather(window, view, image, &workspace[pixel], pitch, fill);
    }
}

/* Runs of `n` words of four pixels `step` elements apart, the last `last_step` behind the third. */
static cg_s32 *copy_four(cg_s32 *to, const cg_s16 *from, int32_t step, int32_t last_step, int32_t n)
{
    const cg_s32 *a = (const cg_s32 *)(const void *)from;
    const cg_s32 *b = (const cg_s32 *)(const void *)&from[step];
    const cg_s32 *c = (const cg_s32 *)(const void *)&from[2 * step];
    const cg_s32 *d = (const cg_s32 *)(const void *)&from[(2 * step) + last_step];
    for (; n > 0; n--) {
        const int32_t first = *a++;
        const int32_t second = *b++;
        const int32_t third = *c++;
        const int32_t fourth = *d++;
        to[0] = first;
        to[1] = second;
        to[2] = third;
        to[3] = fourth;
        to += 4;
    }
    return to;
}

/* Four windows of which no column is in the padding, by whole words; `view` is of their row. */
static void gather_four(const cg_window *window, const cg_view *view, const cg_s16 *image,
                        cg_s32 *to, int32_t column, int32_t last_step, int32_t fill)
{
    const int32_t n = window->kernel_w * (window->in.c / 2);
    const int32_t apart = window->stride_w * window->in.c;
    const int32_t line = window->in.w * window->in.c;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        if ((ky < view->rows.first) || (ky >= view->rows.stop)) {
            word_place place = {.to = to, .pitch = 1, .fill = fill};
            clear_words(&place, 4 * n);
            to = place.to;
        } else {
            const int32_t y = view->y + (ky * window->dilation_h);
            const cg_s16 *const from = &image[(y * line) + (column * window->in.c)];
            to = copy_four(to, from, apart, (last_step != 0) ? apart : 0, n);
        }
    }
}

/* `count` pixels of a row from column x on: three or four together, or one. */
static void conv_tile(const cg_window *window, const cg_tile_s16_dsp *tile, cg_view *view,
                      const cg_s16 *image, cg_s32 *workspace, cg_s16 *output, int32_t x,
                      int32_t count, int32_t fill)
{
    const int32_t step = 2 * window->out.c;
    const int32_t last_step = (count == 4) ? step : 0;
    const int32_t first = (x * window->stride_w) - window->pad_left;
    const int32_t end = first + ((count - 1) * window->stride_w) + window->kernel_w;
    if ((count > 1) && (first >= 0) && (end <= window->in.w) && (window->dilation_w == 1) &&
        ((window->in.c % 2) == 0)) {
        gather_four(window, view, image, workspace, first, last_step, fill);
    } else {
        gather_each(window, view, image, workspace, x, count, fill);
    }
    if (count > 1) {
        TILE4(tile, output, step, last_step);
    } else {
        TILE1(tile, output);
    }
}

void CONV2D(const cg_conv_params *params, const int32_t *stream, void *workspace,
            const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->window;
    const int32_t values = window->kernel_h * window->kernel_w * window->in.c;
    cg_tile_s16_dsp tile =
        cg_tile_of_s16_dsp(stream, values, window->out.c, params->act_min, params->act_max);
    cg_s32 *const pixels = workspace;
    const int32_t fill = (int32_t)(0x10001u * ((uint32_t)params->in_zero & 0xFFFFu));
    tile.pixels = pixels;
    tile.zero = params->out_zero;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            int32_t count = 4;
            for (int32_t x = 0; x < window->out.w; x += count) {
                const int32_t left = window->out.w - x;
                count = (left >= 4) ? 4 : ((left == 3) ? 3 : 1);
                conv_tile(window, &tile, &view, input, pixels, output, x, count, fill);
                output += count * window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}

#endif /* CG_CONV2D_S16_DSP_PARTS_H */
