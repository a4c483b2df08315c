/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise3x3_rv32_parts.h -- a depthwise 3x3 convolution row by row, RV32IM. A source defines
 * CG_DEPTHWISE and CG_DEPTHWISE_ROW (its functions), CG_ROW1 and CG_ROW2 (a row of stride 1, of 2)
 * and CG_PAIRS (two rows of stride 1) before it includes this.
 *
 * Three rows of the image are kept in the workspace, with their padding, by groups of four
 * channels: of each group one word a column. Of stride 1 four rows, two by two: two words.
 */
#include "cg_conv_rows.h"
#include "cg_rv32_parts.h"

enum { LINES = 3, GROUP = 4, WORD = 4, PAIR = 2 * WORD };

/* Columns [first, first + count) of an image, which begins at `origin` of what is there of it. */
typedef struct {
    int32_t first;
    int32_t count;
    int32_t origin;
} column_span;

static void fill(int8_t *to, int32_t value, int32_t columns)
{
    const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101u;
    cg_u32 *words = (cg_u32 *)(void *)to;
    for (; columns > 0; columns--) {
        *words++ = word;
    }
}

/* One group of four channels, from whole words `step` bytes apart. */
static void copy_words(int8_t *to, const int8_t *from, int32_t step, int32_t columns)
{
    cg_u32 *words = (cg_u32 *)(void *)to;
    for (; columns >= 4; columns -= 4) {
        const uint32_t a = *(const cg_u32 *)(const void *)from;
        from += step;
        const uint32_t b = *(const cg_u32 *)(const void *)from;
        from += step;
        const uint32_t c = *(const cg_u32 *)(const void *)from;
        from += step;
        const uint32_t d = *(const cg_u32 *)(const void *)from;
        from += step;
        words[0] = a;
        words[1] = b;
        words[2] = c;
        words[3] = d;
        words += 4;
    }
    for (; columns > 0; columns--) {
        *words++ = *(const cg_u32 *)(const void *)from;
        from += step;
    }
}

/* Copies up to four channels byte by byte. */
static void copy_bytes(int8_t *to, const int8_t *from, int32_t step, int32_t columns,
                       int32_t channels)
{
    for (; columns > 0; columns--) {
        to[0] = from[0];
        if (channels > 1) {
            to[1] = from[1];
        }
        if (channels > 2) {
            to[2] = from[2];
        }
        if (channels > 3) {
            to[3] = from[3];
        }
        to += WORD;
        from += step;
    }
}

/* `channels` of a row of the image as the workspace has them; NULL: padding. */
static void keep_line(const cg_depthwise_params_rv32 *params, int8_t *to, const int8_t *line,
                      const column_span *span, int32_t channels)
{
    const int32_t step = params->window.in.c;
    const int32_t width = params->window.in.w;
    const int32_t end = span->first + span->count;
    const int32_t start = (span->first < 0) ? 0 : span->first;
    const int32_t stop = (end > width) ? width : end;
    const int32_t inside = ((line == NULL) || (stop < start)) ? 0 : (stop - start);
    const int32_t left = (inside == 0) ? span->count : (start - span->first);
    const int8_t *from = (inside == 0) ? NULL : &line[(start - span->origin) * step];
    const int32_t is_aligned = ((((uintptr_t)from | (uintptr_t)step) % WORD) == 0u) ? 1 : 0;
    for (int32_t c = 0; c < channels; c += GROUP) {
        fill(to, params->in_zero, left);
        to += left * WORD;
        if (inside != 0) {
            if (is_aligned != 0) {
                copy_words(to, &from[c], step, inside);
            } else {
                /* Channels that the last word lacks are filled as well. */
                fill(to, params->in_zero, ((channels - c) < GROUP) ? inside : 0);
                copy_bytes(to, &from[c], step, inside, channels - c);
            }
            to += inside * WORD;
            fill(to, params->in_zero, span->count - left - inside);
            to += (span->count - left - inside) * WORD;
        }
    }
}

static void describe(cg_depthwise_rows_rv32 *rows, const cg_depthwise_params_rv32 *params,
                     int32_t results, int32_t line_bytes, int32_t channels)
{
    const int32_t step = WORD * params->window.stride_w;
    const int32_t walked = results * step;
    const int32_t groups = (channels + GROUP - 1) / GROUP;
    rows->channels = channels;
    rows->fours = (results / 4) * 4 * step;
    rows->tail = results % 4;
    rows->back = 1 - walked;
    rows->back_group = (line_bytes / groups) - 3 - walked;
    rows->step = params->window.out.c;
    rows->out_back = 1 - (results * params->window.out.c);
    rows->range = params->range;
}

static void run_row(const cg_depthwise_rows_rv32 *rows, int32_t stride, int8_t *output)
{
    if (stride == 1) {
        CG_ROW1(rows, output);
    } else {
        CG_ROW2(rows, output);
    }
}

/* Columns that so many results from column `first` on read. */
static column_span columns_of(const cg_window *window, int32_t first, int32_t results)
{
    const column_span span = {
        .first = (first * window->stride_w) - window->pad_left,
        .count = ((results - 1) * window->stride_w) + window->kernel_w,
        .origin = 0,
    };
    return span;
}

static int32_t line_bytes_of(int32_t channels, int32_t columns)
{
    return ((channels + GROUP - 1) / GROUP) * WORD * columns;
}

void CG_DEPTHWISE_ROW(const cg_depthwise_params_rv32 *params, void *workspace, const cg_rows *input,
                      int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    cg_depthwise_rows_rv32 rows;
    column_span span = columns_of(window, x_start, x_stop - x_start);
    const int32_t line_bytes = line_bytes_of(window->in.c, span.count);
    span.origin = input->x_origin;
    for (int32_t ky = 0; ky < LINES; ky++) {
        const int32_t row = (y * window->stride_h) - window->pad_top + ky;
        int8_t *const to = &((int8_t *)workspace)[ky * line_bytes];
        const int8_t *const line = ((row < 0) || (row >= window->in.h))
                                       ? NULL
                                       : &input->base[(row % input->ring_rows) * input->row_bytes];
        keep_line(params, to, line, &span, window->in.c);
        rows.rows[ky] = to;
    }
    describe(&rows, params, x_stop - x_start, line_bytes, window->in.c);
    rows.stream = params->stream;
    run_row(&rows, window->stride_h, output);
}

/* `channels` from channel `first` on, stride 2. */
static void run_group(const cg_depthwise_params_rv32 *params, int8_t *ring, const int8_t *input,
                      int8_t *output, int32_t first, int32_t channels)
{
    const cg_window *const window = &params->window;
    const column_span span = columns_of(window, 0, window->out.w);
    const int32_t line_bytes = line_bytes_of(channels, span.count);
    cg_depthwise_rows_rv32 rows;
    int32_t kept = 0; /* rows from the first one of the padding on */
    int32_t line = 0;
    describe(&rows, params, window->out.w, line_bytes, channels);
    rows.stream = &params->stream[first * CG_DEPTHWISE_HALVES_RV32];
    rows.rows[0] = ring;
    rows.rows[1] = ring;
    rows.rows[2] = ring;
    for (int32_t y = 0; y < window->out.h; y++) {
        for (; kept < ((2 * y) + LINES); kept++) {
            const int32_t row = kept - window->pad_top;
            int8_t *const to = &ring[line * line_bytes];
            const int32_t is_inside = (row >= 0) && (row < window->in.h);
            keep_line(params, to,
                      (is_inside != 0) ? &input[row * window->in.w * window->in.c] : NULL, &span,
                      channels);
            rows.rows[0] = rows.rows[1];
            rows.rows[1] = rows.rows[2];
            rows.rows[2] = to;
            line = (line == (LINES - 1)) ? 0 : (line + 1);
        }
        CG_ROW2(&rows, output);
        output += window->out.w * window->out.c;
    }
}

/* ---- stride 1: two rows at a time, kept two by two ------------------------------------------ */

/* Four channels of a row, from whole words `step` bytes apart, to every second word. */
static void copy_group(int8_t *to, const int8_t *from, int32_t step, int32_t columns)
{
    cg_u32 *words = (cg_u32 *)(void *)to;
    for (; columns >= 4; columns -= 4) {
        words[0] = *(const cg_u32 *)(const void *)from;
        from += step;
        words[2] = *(const cg_u32 *)(const void *)from;
        from += step;
        words[4] = *(const cg_u32 *)(const void *)from;
        from += step;
        words[6] = *(const cg_u32 *)(const void *)from;
        from += step;
        words += 8;
    }
    for (; columns > 0; columns--) {
        *words = *(const cg_u32 *)(const void *)from;
        words += 2;
        from += step;
    }
}

/* `channels` of a row to groups that lie `group` bytes apart. */
static void copy_line(int8_t *to, int32_t group, const int8_t *from, int32_t step, int32_t columns,
                      int32_t channels)
{
    int32_t c = 0;
    if ((((uintptr_t)from | (uintptr_t)step) % WORD) == 0u) {
        const int32_t eights = channels / (2 * GROUP);
        if ((eights > 0) && (columns > 0)) {
            cg_keep_pairs_s8_rv32(to, group, from, step, columns, eights);
        }
        c = eights * 2 * GROUP;
        to += 2 * eights * group;
        if ((channels - c) >= GROUP) {
            copy_group(to, &from[c], step, columns);
            to += group;
            c += GROUP;
        }
    }
    for (; c < channels; c++) {
        for (int32_t x = 0; x < columns; x++) {
            to[(x * PAIR) + (c % GROUP)] = from[(x * step) + c];
        }
        to += ((c % GROUP) == (GROUP - 1)) ? group : 0;
    }
}

/* Every second word of `bytes`: the padding of a row above or below the image. */
static void fill_line(int8_t *to, int32_t value, int32_t bytes)
{
    const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101u;
    const cg_u32 *const end = (const cg_u32 *)(const void *)&to[bytes];
    for (cg_u32 *words = (cg_u32 *)(void *)to; words != end; words += 2) {
        *words = word;
    }
}

/* The padding of `groups` beside the image: from column `inside` on, and `left` columns. */
static void fill_sides(int8_t *to, int32_t value, int32_t columns, int32_t left, int32_t inside,
                       int32_t groups)
{
    for (; groups > 0; groups--) {
        fill(to, value, 2 * left);
        fill(&to[(left + inside) * PAIR], value, 2 * (columns - left - inside));
        to += columns * PAIR;
    }
}

/* `channels` from channel `first` on. The padding beside the image is filled once. */
static void run_pairs(const cg_depthwise_params_rv32 *params, int8_t *ring, const int8_t *input,
                      int8_t *output, int32_t first, int32_t channels)
{
    const cg_window *const window = &params->window;
    const column_span span = columns_of(window, 0, window->out.w);
    const int32_t line = window->out.w * window->out.c;
    const int32_t pair_bytes = 2 * line_bytes_of(channels, span.count);
    const int32_t group = PAIR * span.count;
    const int32_t end = span.first + span.count;
    const int32_t inside = (end > window->in.w) ? window->in.w : end;
    const int32_t left = PAIR * window->pad_left;
    cg_depthwise_pairs_rv32 pairs = {
        .stream = &params->stream[first * CG_DEPTHWISE_HALVES_RV32],
        .channels = channels,
        .fours = (window->out.w / 4) * 4 * PAIR,
        .tail = window->out.w % 4,
        .back = 1 - (window->out.w * PAIR),
        .group = group - GROUP,
        .out_back = 1 - line,
        .range = params->range,
    };
    int32_t kept = 0; /* rows from the first one of the padding on */
    if (channels % GROUP != 0) {
        fill(ring, params->in_zero, (2 * pair_bytes) / WORD);
    }
    fill_sides(ring, params->in_zero, span.count, window->pad_left, inside,
               2 * ((channels + GROUP - 1) / GROUP));
    for (int32_t y = 0; y < window->out.h; y += 2) {
        for (; kept < (y + LINES + 1); kept++) {
            const int32_t row = kept - window->pad_top;
            int8_t *const to = &ring[(((kept / 2) % 2) * pair_bytes) + (WORD * (kept % 2))];
            if ((row >= 0) && (row < window->in.h)) {
                copy_line(&to[left], group, &input[row * window->in.w * window->in.c], window->in.c,
                          inside, channels);
            } else {
                fill_line(to, params->in_zero, pair_bytes);
            }
        }
        pairs.pairs[0] = &ring[((y / 2) % 2) * pair_bytes];
        pairs.pairs[1] = &ring[(((y / 2) + 1) % 2) * pair_bytes];
        pairs.below = ((window->out.h - y) == 1) ? 0 : line;
        pairs.above = pairs.below + window->out.c;
        CG_PAIRS(&pairs, output);
        output += 2 * line;
    }
}
void CG_DEPTHWISE(const cg_depthwise_params_rv32 *params, void *workspace, const int8_t *input,
                  int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->in.c; c += params->group) {
            const int32_t left = window->in.c - c;
            const int32_t channels = (left < params->group) ? left : params->group;
            if (window->stride_h == 1) {
                run_pairs(params, (int8_t *)workspace, &input[c], &output[c], c, channels);
            } else {
                run_group(params, (int8_t *)workspace, &input[c], &output[c], c, channels);
            }
        }
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}
