/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_mve_parts.h -- 2-D convolution, Helium: any window, stride, dilation, padding; no
 * groups.
 *
 * The windows of three pixels are copied to the workspace, with the zero point where they lie in
 * the padding, then multiplied at once.
 */
#ifndef CG_CONV2D_MVE_PARTS_H
#define CG_CONV2D_MVE_PARTS_H

#include "cg_mve_parts.h"

/*
 * State of the computation, in the workspace behind the windows, so that the stack stays short.
 * Pixels come in one by one, the last `count` are not yet multiplied.
 */
typedef struct CG_MAY_ALIAS {
    const cg_conv_params_mve *params;
    const cg_product_mve *product;
    int8_t *windows;
    cg_group_mve group;
    int32_t count;
    int32_t inside_start; /* result columns [start, stop) have all columns of taps inside */
    int32_t inside_stop;
    cg_rows image;
    cg_view view;
    cg_tap_rows rows;
    /* Columns [start, stop) have all rows of taps inside too: plain windows. */
    int32_t plain_start;
    int32_t plain_stop;
    cg_runs_mve plain;
} conv_state;

CG_STATIC_ASSERT(sizeof(conv_state) == 156, "STATE_BYTES of the planner");

static int32_t most(int32_t pixels)
{
    return (pixels < 3) ? pixels : 3;
}

/*
 * If fewer pixels are computed than the workspace holds (`held`, or 3), they lie at its end, so
 * that its last byte is used whatever the plan makes of the row.
 */
static conv_state *begin(const cg_conv_params_mve *params, const cg_product_mve *product,
                         void *workspace, int32_t held, int32_t pixels)
{
    const cg_window *const window = &params->window;
    int8_t *const bytes = workspace;
    const int32_t windows_bytes = most(held) * product->depth;
    conv_state *const state = (void *)&bytes[(windows_bytes + 3) & ~3];
    state->params = params;
    state->product = product;
    state->windows = &bytes[windows_bytes - (most(pixels) * product->depth)];
    state->count = 0;
    state->group.count = 1;
    state->inside_start = 0;
    state->inside_stop = 0;
    if (window->dilation_w == 1) {
        cg_inside_mve(window, &state->inside_start, &state->inside_stop);
    }
    for (int32_t i = 0; i < 3; i++) {
        state->group.patch[i] = &state->windows[i * product->depth];
    }
    return state;
}

/* The pixels that are left at the end: what lacks is done twice, to the same place. */
static void finish(conv_state *state)
{
    if (state->count > 0) {
        for (int32_t i = state->count; i < 3; i++) {
            state->group.patch[i] = state->group.patch[i - 1];
            state->group.output[i] = state->group.output[i - 1];
        }
        CG_MVE_LOOP(product3)(state->product, &state->group);
    }
}

/* Rows of taps that are inside, `count` of them: all their taps that are inside. */
static void copy_rows(const cg_window *window, const cg_runs_mve *runs, int32_t count,
                      const int8_t *from, int8_t *to)
{
    if (window->dilation_w == 1) {
        cg_runs_mve some = *runs;
        some.count = count;
        cg_copy_runs_mve(to, from, &some, 1);
        return;
    }
    const cg_runs_mve taps = {
        .bytes = window->in.c,
        .step = window->dilation_w * window->in.c,
        .to_step = window->in.c,
        .count = runs->bytes / window->in.c,
    };
    for (; count > 0; count--) {
        cg_copy_runs_mve(to, from, &taps, 1);
        from += runs->step;
        to += runs->to_step;
    }
}

/*
 * Any window: that of result column x. Both copies are apart: their registers would widen the
 * frame under which the products run.
 */
__attribute__((noinline)) static void copy_window(conv_state *state, int32_t x, int8_t *to)
{
    const cg_window *const window = &state->params->window;
    const cg_tap_rows *const rows = &state->rows;
    cg_view *const view = &state->view;
    cg_view_col(view, window, x);
    const cg_runs_mve runs = {
        .bytes = (view->cols.stop - view->cols.first) * window->in.c,
        .step = rows->step,
        .to_step = window->kernel_w * window->in.c,
    };
    int32_t count = view->rows.stop - view->rows.first;
    if ((runs.bytes < runs.to_step) || (count < window->kernel_h)) {
        cg_fill_mve(to, state->params->in_zero, state->product->depth);
    }
    if ((runs.bytes == 0) || (count == 0)) {
        return;
    }
    const int8_t *from = cg_first_tap(rows, window, view);
    to += (view->rows.first * runs.to_step) + (view->cols.first * window->in.c);
    if (rows->wrap < view->rows.stop) {
        const int32_t before = rows->wrap - view->rows.first;
        if (before > 0) {
            copy_rows(window, &runs, before, from, to);
        }
        from += (before * runs.step) - rows->ring_bytes;
        to += before * runs.to_step;
        count -= before;
    }
    copy_rows(window, &runs, count, from, to);
}

/* The rows of taps of result row y; columns come forwards (step 1) or backwards (-1). */
static void begin_row(conv_state *state, int32_t y, int32_t step)
{
    const cg_window *const window = &state->params->window;
    cg_view *const view = &state->view;
    cg_view_row(view, window, y);
    state->rows = cg_find_tap_rows(&state->image, window, view);
    const bool is_whole = (view->rows.stop - view->rows.first) == window->kernel_h;
    state->plain_start = is_whole ? state->inside_start : 0;
    state->plain_stop = is_whole ? state->inside_stop : 0;
    state->plain.bytes = window->kernel_w * window->in.c;
    state->plain.step = state->rows.step;
    state->plain.to_step = state->plain.bytes;
    state->plain.count = window->kernel_h;
    state->plain.window_step = step * window->stride_w * window->in.c;
}

/* `count` plain windows; where the ring begins again within, row of taps by row of taps. */
__attribute__((noinline)) static void copy_plain(const conv_state *state, const int8_t *from,
                                                 int32_t count, int8_t *to)
{
    const cg_runs_mve *const plain = &state->plain;
    if (state->rows.wrap >= plain->count) {
        cg_copy_runs_mve(to, from, plain, count);
        return;
    }
    const cg_runs_mve across = {
        .bytes = plain->bytes,
        .step = plain->window_step,
        .to_step = state->product->depth,
        .count = count,
    };
    for (int32_t tap = 0; tap < plain->count; tap++) {
        from -= (tap == state->rows.wrap) ? state->rows.ring_bytes : 0;
        cg_copy_runs_mve(to, from, &across, 1);
        from += plain->step;
        to += plain->to_step;
    }
}

/* Begin of the plain window of column x. */
static const int8_t *plain_window(const conv_state *state, int32_t x)
{
    const cg_window *const window = &state->params->window;
    const int32_t column = (x * window->stride_w) - window->pad_left - state->rows.x_origin;
    return &state->rows.first[column * window->in.c];
}

/* `threes` times three of them from column x on, results `pixel` bytes apart. */
static void multiply_threes(conv_state *state, int32_t x, int32_t threes, int32_t pixel,
                            int8_t *output)
{
    const int8_t *from = plain_window(state, x);
    for (; threes > 0; threes--) {
        copy_plain(state, from, 3, state->windows);
        from += 3 * state->plain.window_step;
        for (int32_t i = 0; i < 3; i++) {
            state->group.output[i] = output;
            output += pixel;
        }
        CG_MVE_LOOP(product3)(state->product, &state->group);
    }
}

/* One window more, the results of which go to `output`. */
static void add_window(conv_state *state, int32_t x, bool is_plain, int8_t *output)
{
    int8_t *const patch = &state->windows[state->count * state->product->depth];
    if (is_plain) {
        copy_plain(state, plain_window(state, x), 1, patch);
    } else {
        copy_window(state, x, patch);
    }
    state->group.output[state->count] = output;
    state->count++;
    if (state->count == 3) {
        CG_MVE_LOOP(product3)(state->product, &state->group);
        state->count = 0;
    }
}

/* Columns [x, x + left) or, with a step of -1, (x - left, x]; `output` is column x's. */
static void add_columns(conv_state *state, int32_t x, int32_t left, int32_t step, int8_t *output)
{
    const int32_t pixel = step * state->product->channels;
    while (left > 0) {
        const bool is_plain = (x >= state->plain_start) && (x < state->plain_stop);
        if (is_plain && (state->count == 0)) {
            const int32_t plain_left =
                (step > 0) ? (state->plain_stop - x) : ((x + 1) - state->plain_start);
            const int32_t threes = ((plain_left < left) ? plain_left : left) / 3;
            if (threes > 0) {
                multiply_threes(state, x, threes, pixel, output);
                x += threes * 3 * step;
                left -= threes * 3;
                output += threes * 3 * pixel;
                continue;
            }
        }
        add_window(state, x, is_plain, output);
        x += step;
        left--;
        output += pixel;
    }
}

void CG_MVE_NAME(conv2d_s8_mve_row)(const cg_conv_params_mve *params, const cg_product_mve *product,
                                    void *workspace, const cg_rows *input, int8_t *output,
                                    int32_t y, int32_t x_start, int32_t x_stop)
{
    conv_state *const state =
        begin(params, product, workspace, params->window.out.w, x_stop - x_start);
    state->image = *input;
    begin_row(state, y, 1);
    add_columns(state, x_start, x_stop - x_start, 1, output);
    finish(state);
}

void CG_MVE_NAME(conv2d_s8_mve)(const cg_conv_params_mve *params, const cg_product_mve *product,
                                void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t pixels = cg_pixels_mve(window);
    conv_state *const state = begin(params, product, workspace, pixels, pixels);
    for (int32_t b = 0; b < window->batch; b++) {
        state->image = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            begin_row(state, y, 1);
            add_columns(state, 0, window->out.w, 1, output);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
    finish(state);
}

void CG_MVE_NAME(conv2d_reverse_s8_mve)(const cg_conv_params_mve *params,
                                        const cg_product_mve *product, void *workspace,
                                        const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t pixels = cg_pixels_mve(window);
    conv_state *const state = begin(params, product, workspace, pixels, pixels);
    output += (window->batch * cg_shape_elements(&window->out)) - window->out.c;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        state->image = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            begin_row(state, y, -1);
            add_columns(state, window->out.w - 1, window->out.w, -1, output);
            output -= window->out.w * window->out.c;
        }
    }
    finish(state);
}

#endif /* CG_CONV2D_MVE_PARTS_H */
