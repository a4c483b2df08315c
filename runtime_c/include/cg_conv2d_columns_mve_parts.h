/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_columns_mve_parts.h -- 2-D convolution, Helium: windows of three columns side by side,
 * stride 1 along the row.
 *
 * The columns of the image that a stripe of pixels meets are copied to the workspace, each once,
 * row of taps after row of taps, with the zero point where they lie in the padding.
 */
#ifndef CG_CONV2D_COLUMNS_MVE_PARTS_H
#define CG_CONV2D_COLUMNS_MVE_PARTS_H

#include "cg_mve_parts.h"

#define STRIPE     6
#define SUMS_BYTES 192

typedef struct {
    const cg_conv_params_mve *params;
    const cg_product_mve *product;
    cg_columns_run_mve run;
    /* Of the row of results that is computed. */
    int32_t first; /* tap rows [first, first + count) are inside */
    int32_t count;
    cg_tap_rows rows;
} columns_state;

static int32_t at_most(int32_t pixels)
{
    return (pixels < STRIPE) ? pixels : STRIPE;
}

/* The workspace holds `held` pixels or a stripe; of fewer, its last columns are taken. */
static void begin(columns_state *state, void *workspace, int32_t held, int32_t pixels)
{
    const cg_window *const window = &state->params->window;
    const int32_t there = cg_columns_mve(window, at_most(held));
    const int32_t taken = cg_columns_mve(window, at_most(pixels));
    int8_t *const bytes = workspace;
    state->run.sums = workspace;
    state->run.columns = &bytes[SUMS_BYTES + ((there - taken) * state->product->depth)];
}

static void begin_row(columns_state *state, const cg_rows *input, int32_t y)
{
    const cg_window *const window = &state->params->window;
    cg_view view;
    cg_view_row(&view, window, y);
    state->rows = cg_find_tap_rows(input, window, &view);
    state->first = view.rows.first;
    state->count = view.rows.stop - view.rows.first;
}

/* `count` > 0 columns of the image from `from` on, where all tap rows but some are inside, or the
 * ring begins again between them: tap row by tap row. */
static void copy_rows(const columns_state *state, const int8_t *from, int32_t count, int8_t *to)
{
    const int32_t channels = state->params->window.in.c;
    const cg_runs_mve runs = {
        .bytes = channels, .step = channels, .to_step = state->product->depth, .count = count};
    to += state->first * channels;
    for (int32_t tap = state->first; tap < (state->first + state->count); tap++) {
        from -= (tap == state->rows.wrap) ? state->rows.ring_bytes : 0;
        cg_copy_runs_mve(to, from, &runs, 1);
        from += state->rows.step;
        to += channels;
    }
}

/* `count` > 0 columns of three tap rows, `step` bytes apart, that are all inside. */
static void copy_three(const columns_state *state, const int8_t *from, int32_t count, int8_t *to)
{
    const int32_t channels = state->params->window.in.c;
    const int32_t step = state->rows.step;
    const int8_t *middle = &from[step];
    const int8_t *below = &middle[step];
    int8_t *to_middle = &to[channels];
    int8_t *to_below = &to_middle[channels];
    /* From behind what was loaded, in whole vectors, to the next column. */
    const int32_t next = channels - ((channels + 15) & ~15);
    __asm__ volatile(
        "1: dlstp.8 lr, %[channels]\n"
        "2: vldrb.8 q0, [%[from]], #16\n"
        "vldrb.8  q1, [%[middle]], #16\n"
        "vldrb.8  q2, [%[below]], #16\n"
        "vstrb.8  q0, [%[to]], #16\n"
        "vstrb.8  q1, [%[to_middle]], #16\n"
        "vstrb.8  q2, [%[to_below]], #16\n"
        "letp     lr, 2b\n"
        "add      %[from], %[from], %[next]\n"
        "add      %[middle], %[middle], %[next]\n"
        "add      %[below], %[below], %[next]\n"
        "add      %[to], %[to], %[to_next]\n"
        "add      %[to_middle], %[to_middle], %[to_next]\n"
        "add      %[to_below], %[to_below], %[to_next]\n"
        "subs     %[count], %[count], #1\n"
        "bne      1b\n"
        : [from] "+r"(from), [middle] "+r"(middle), [below] "+r"(below), [to] "+r"(to),
          [to_middle] "+r"(to_middle), [to_below] "+r"(to_below), [count] "+r"(count)
        : [channels] "r"(channels), [next] "r"(next), [to_next] "r"(next + (2 * channels))
        : "lr", "q0", "q1", "q2", "memory", "cc");
}

/* The columns of pixels [x, x + pixels). */
static void copy_columns(const columns_state *state, int32_t x, int32_t pixels)
{
    const cg_window *const window = &state->params->window;
    const cg_span_mve span = cg_find_span_mve(window, x, pixels);
    const int32_t depth = state->product->depth;
    const int32_t zero = state->params->in_zero;
    int8_t *to = state->run.columns;
    const bool is_whole = state->count == window->kernel_h;
    const int32_t filled = is_whole ? span.left : (span.left + span.inside + span.right);
    if (filled > 0) {
        cg_fill_mve(to, zero, filled * depth);
    }
    to += span.left * depth;
    if (span.inside > 0) {
        const int32_t channels = window->in.c;
        const int8_t *const from =
            &state->rows.first[(span.first - state->rows.x_origin) * channels];
        if ((state->count == 3) && is_whole && (state->rows.wrap >= 3)) {
            copy_three(state, from, span.inside, to);
        } else {
            copy_rows(state, from, span.inside, to);
        }
    }
    if (is_whole && (span.right > 0)) {
        cg_fill_mve(&to[span.inside * depth], zero, span.right * depth);
    }
}

/* Pixels [x, x + pixels), no more than a stripe. */
static void compute(columns_state *state, int32_t x, int32_t pixels, int8_t *output)
{
    copy_columns(state, x, pixels);
    state->run.pixels = pixels;
    state->run.output = output;
    CG_MVE_LOOP(columns3)(state->product, &state->run);
}

void CG_MVE_NAME(conv2d_columns_s8_mve_row)(const cg_conv_params_mve *params,
                                            const cg_product_mve *product, void *workspace,
                                            const cg_rows *input, int8_t *output, int32_t y,
                                            int32_t x_start, int32_t x_stop)
{
    columns_state state = {.params = params, .product = product};
    begin(&state, workspace, params->window.out.w, x_stop - x_start);
    begin_row(&state, input, y);
    for (int32_t x = x_start; x < x_stop; x += STRIPE) {
        const int32_t pixels = at_most(x_stop - x);
        compute(&state, x, pixels, output);
        output += pixels * product->channels;
    }
}

void CG_MVE_NAME(conv2d_columns_s8_mve)(const cg_conv_params_mve *params,
                                        const cg_product_mve *product, void *workspace,
                                        const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    columns_state state = {.params = params, .product = product};
    begin(&state, workspace, window->out.w, window->out.w);
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
                                                const cg_product_mve *product, void *workspace,
                                                const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    columns_state state = {.params = params, .product = product};
    begin(&state, workspace, window->out.w, window->out.w);
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
