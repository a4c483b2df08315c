/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_columns_mve_parts.h -- 2-D convolution, Helium: windows of three columns side by side,
 * stride 1 along the row.
 *
 * The columns of the image that four pixels meet are copied to the workspace, with the zero point
 * where they lie in the padding: 16 bytes of each of six columns, the next 16 of each, and so on.
 * The bytes of a column are its rows of taps, one after the other.
 */
#ifndef CG_CONV2D_COLUMNS_MVE_PARTS_H
#define CG_CONV2D_COLUMNS_MVE_PARTS_H

#include "cg_mve_parts.h"

#define STRIPE  4
#define COLUMNS 6
#define VECTOR  16
#define STEP    96 /* from 16 bytes of a column to its next */

/* There once, whoever calls it. */
#define APART static __attribute__((noinline))

typedef struct {
    const cg_conv_params_mve *params;
    const cg_quads_mve *layer;
    int8_t *columns;
    /* State of the row of results that is being computed. */
    int32_t first; /* tap rows [first, first + count) are inside */
    int32_t count;
    cg_tap_rows rows;
} columns_state;

static int32_t at_most(int32_t pixels)
{
    return (pixels < STRIPE) ? pixels : STRIPE;
}

/* Clears the bytes behind the last one of each column, which are read and multiplied by 0. */
static void begin(const columns_state *state)
{
    const int32_t last = state->layer->depth - VECTOR;
    cg_fill_mve(&state->columns[last * COLUMNS], 0, STEP);
}

APART void begin_row(columns_state *state, const cg_rows *input, int32_t y)
{
    const cg_window *const window = &state->params->window;
    cg_view view;
    cg_view_row(&view, window, y);
    state->rows = cg_find_tap_rows(input, window, &view);
    state->first = view.rows.first;
    state->count = view.rows.stop - view.rows.first;
}

/* To `places`: where 16 bytes from byte `place` < 16 on go, what is behind 16 to the next ones;
 * changes q2, and `place` but for its lowest four bits. */
#define SCATTER(places, place)                                                                     \
    "vidup.u8 " places ", " place ", #1\n"                                                         \
    "vmov.i8  q2, #16\n"                                                                           \
    "vand     q2, q2, " places "\n"                                                                \
    "vadd.i8  " places ", " places ", q2\n"                                                        \
    "vshl.i8  q2, q2, #2\n"                                                                        \
    "vadd.i8  " places ", " places ", q2\n"

CG_STATIC_ASSERT(STEP == (VECTOR + (5 * VECTOR)), "SCATTER: 16 and 4 times 16 more, 16 back");

/* At most 16 bytes of each of `count` > 0 columns of a row, `channels` apart: to byte `place` of
 * the columns from `to` on. */
static void copy_piece(int8_t *to, int32_t place, const int8_t *from, int32_t bytes,
                       int32_t channels, int32_t count)
{
    __asm__ volatile(SCATTER("q1", "%[place]") "dlstp.8  lr, %[bytes]\n"
                                               "1: vldrb.8 q0, [%[from]]\n"
                                               "vstrb.8  q0, [%[to], q1]\n"
                                               "add      %[from], %[from], %[channels]\n"
                                               "add      %[to], %[to], #16\n"
                                               "subs     %[count], %[count], #1\n"
                                               "bne      1b\n"
                                               "lctp\n"
                     : [to] "+r"(to), [place] "+Te"(place), [from] "+r"(from), [count] "+r"(count)
                     : [bytes] "r"(bytes), [channels] "r"(channels)
                     : "lr", "q0", "q1", "q2", "memory", "cc");
}

/* `count` > 0 columns of the image from `from` on: tap row by tap row. */
static void copy_rows(const columns_state *state, const int8_t *from, int32_t count, int8_t *to)
{
    const int32_t channels = state->params->window.in.c;
    for (int32_t tap = state->first; tap < (state->first + state->count); tap++) {
        from -= (tap == state->rows.wrap) ? state->rows.ring_bytes : 0;
        for (int32_t done = 0; done < channels; done += VECTOR) {
            const int32_t left = channels - done;
            const int32_t byte = (tap * channels) + done;
            const int32_t place = byte % VECTOR;
            copy_piece(&to[(byte - place) * COLUMNS], place, &from[done],
                       (left < VECTOR) ? left : VECTOR, channels, count);
        }
        from += state->rows.step;
    }
}

/* `count` > 0 columns of three tap rows that are all inside. */
typedef struct {
    const int8_t *from;
    const int8_t *middle;
    const int8_t *below;
    int8_t *to;
    int32_t count;
} three_rows;

/* Copies three rows to columns where a row of a column is whole vectors. */
static void copy_vectors(three_rows rows, int32_t vectors)
{
    int8_t *to = rows.to;
    int8_t *to_middle = &to[vectors * STEP];
    int8_t *to_below = &to_middle[vectors * STEP];
    __asm__ volatile("1: dls lr, %[vectors]\n"
                     "2: vldrb.8 q0, [%[from]], #16\n"
                     "vldrb.8  q1, [%[middle]], #16\n"
                     "vldrb.8  q2, [%[below]], #16\n"
                     "vstrb.8  q0, [%[to]], #96\n"
                     "vstrb.8  q1, [%[to_middle]], #96\n"
                     "vstrb.8  q2, [%[to_below]], #96\n"
                     "le       lr, 2b\n"
                     "add      %[to], %[to], %[next]\n"
                     "add      %[to_middle], %[to_middle], %[next]\n"
                     "add      %[to_below], %[to_below], %[next]\n"
                     "subs     %[count], %[count], #1\n"
                     "bne      1b\n"
                     : [from] "+r"(rows.from), [middle] "+r"(rows.middle), [below] "+r"(rows.below),
                       [to] "+r"(to), [to_middle] "+r"(to_middle), [to_below] "+r"(to_below),
                       [count] "+r"(rows.count)
                     : [vectors] "r"(vectors), [next] "r"(VECTOR - (vectors * STEP))
                     : "lr", "q0", "q1", "q2", "memory", "cc");
}

/* Copies three rows of any length; the upper one begins at byte 0 of a column. */
static void copy_ragged(three_rows rows, int32_t channels)
{
    const int32_t vectors = (channels + (VECTOR - 1)) / VECTOR;
    const int32_t below = 2 * channels;
    int32_t place = channels % VECTOR;
    int8_t *to = rows.to;
    int8_t *to_middle = &to[(channels - place) * COLUMNS];
    int8_t *to_below = &to[(below - (below % VECTOR)) * COLUMNS];
    __asm__ volatile(
        SCATTER("q3",
                "%[place]") "lsls     %[place], %[place], #1\n"
                            "and      %[place], %[place], #15\n" SCATTER(
                                "q4",
                                "%[place]") "1: dlstp.8 lr, %[channels]\n"
                                            "2: vldrb.8 q0, [%[from]], #16\n"
                                            "vldrb.8  q1, [%[middle]], #16\n"
                                            "vldrb.8  q2, [%[below]], #16\n"
                                            "vstrb.8  q0, [%[to]], #96\n"
                                            "vstrb.8  q1, [%[to_middle], q3]\n"
                                            "vstrb.8  q2, [%[to_below], q4]\n"
                                            "add      %[to_middle], %[to_middle], #96\n"
                                            "add      %[to_below], %[to_below], #96\n"
                                            "letp     lr, 2b\n"
                                            "add      %[from], %[from], %[next]\n"
                                            "add      %[middle], %[middle], %[next]\n"
                                            "add      %[below], %[below], %[next]\n"
                                            "add      %[to], %[to], %[to_next]\n"
                                            "add      %[to_middle], %[to_middle], %[to_next]\n"
                                            "add      %[to_below], %[to_below], %[to_next]\n"
                                            "subs     %[count], %[count], #1\n"
                                            "bne      1b\n"
        : [from] "+r"(rows.from), [middle] "+r"(rows.middle), [below] "+r"(rows.below),
          [to] "+r"(to), [to_middle] "+r"(to_middle), [to_below] "+r"(to_below),
          [count] "+r"(rows.count), [place] "+Te"(place)
        : [channels] "r"(channels), [next] "r"(channels - (vectors * VECTOR)),
          [to_next] "r"(VECTOR - (vectors * STEP))
        : "lr", "q0", "q1", "q2", "q3", "q4", "memory", "cc");
}

/* `count` > 0 columns from `from` on, where all three tap rows are inside. */
static void copy_three(const columns_state *state, const int8_t *from, int32_t count, int8_t *to)
{
    const int32_t channels = state->params->window.in.c;
    const cg_tap_rows *const taps = &state->rows;
    const int32_t back = taps->ring_bytes;
    const int8_t *const middle = &from[taps->step - ((taps->wrap == 1) ? back : 0)];
    const int8_t *const below = &middle[taps->step - ((taps->wrap == 2) ? back : 0)];
    const three_rows rows = {
        .from = from, .middle = middle, .below = below, .to = to, .count = count};
    if ((channels % VECTOR) == 0) {
        copy_vectors(rows, channels / VECTOR);
    } else {
        copy_ragged(rows, channels);
    }
}

/* `count` > 0 columns of the padding. */
static void fill_columns(const columns_state *state, int8_t *to, int32_t count)
{
    const int32_t vectors = state->layer->depth / VECTOR;
    __asm__ volatile("vdup.8   q0, %[zero]\n"
                     "1: dls   lr, %[vectors]\n"
                     "2: vstrb.8 q0, [%[to]], #96\n"
                     "le       lr, 2b\n"
                     "add      %[to], %[to], %[next]\n"
                     "subs     %[count], %[count], #1\n"
                     "bne      1b\n"
                     : [to] "+r"(to), [count] "+r"(count)
                     : [zero] "r"(state->params->in_zero), [vectors] "r"(vectors),
                       [next] "r"(VECTOR - (vectors * STEP))
                     : "lr", "q0", "memory", "cc");
}

/* The columns of pixels [x, x + pixels). */
static void copy_columns(const columns_state *state, int32_t x, int32_t pixels)
{
    const cg_window *const window = &state->params->window;
    const cg_span_mve span = cg_find_span_mve(window, x, pixels);
    int8_t *to = state->columns;
    const bool is_whole = state->count == window->kernel_h;
    const int32_t filled = is_whole ? span.left : (span.left + span.inside + span.right);
    if (filled > 0) {
        fill_columns(state, to, filled);
    }
    to += span.left * VECTOR;
    if (span.inside > 0) {
        const int32_t channels = window->in.c;
        const int8_t *const from =
            &state->rows.first[(span.first - state->rows.x_origin) * channels];
        if ((state->count == 3) && is_whole) {
            copy_three(state, from, span.inside, to);
        } else {
            copy_rows(state, from, span.inside, to);
        }
    }
    if (is_whole && (span.right > 0)) {
        fill_columns(state, &to[span.inside * VECTOR], span.right);
    }
}

/* Pixels [x, x + pixels), no more than a stripe. */
APART void compute(const columns_state *state, int32_t x, int32_t pixels, int8_t *output)
{
    copy_columns(state, x, pixels);
    CG_MVE_LOOP(columns3)(state->layer, state->columns, output, pixels);
}

void CG_MVE_NAME(conv2d_columns_s8_mve_row)(const cg_conv_params_mve *params,
                                            const cg_quads_mve *layer, void *workspace,
                                            const cg_rows *input, int8_t *output, int32_t y,
                                            int32_t x_start, int32_t x_stop)
{
    columns_state state = {.params = params, .layer = layer, .columns = workspace};
    begin(&state);
    begin_row(&state, input, y);
    for (int32_t x = x_start; x < x_stop; x += STRIPE) {
        const int32_t pixels = at_most(x_stop - x);
        compute(&state, x, pixels, output);
        output += pixels * layer->channels;
    }
}

void CG_MVE_NAME(conv2d_columns_s8_mve)(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                        void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    columns_state state = {.params = params, .layer = layer, .columns = workspace};
    begin(&state);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows all = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            begin_row(&state, &all, y);
            for (int32_t x = 0; x < window->out.w; x += STRIPE) {
                const int32_t pixels = at_most(window->out.w - x);
                compute(&state, x, pixels, output);
                output += pixels * window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}

void CG_MVE_NAME(conv2d_columns_reverse_s8_mve)(const cg_conv_params_mve *params,
                                                const cg_quads_mve *layer, void *workspace,
                                                const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    columns_state state = {.params = params, .layer = layer, .columns = workspace};
    begin(&state);
    output += window->batch * cg_shape_elements(&window->out);
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows all = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            begin_row(&state, &all, y);
            for (int32_t stop = window->out.w; stop > 0;) {
                const int32_t pixels = at_most(stop);
                stop -= pixels;
                output -= pixels * window->out.c;
                compute(&state, stop, pixels, output);
            }
        }
    }
}

#endif /* CG_CONV2D_COLUMNS_MVE_PARTS_H */
