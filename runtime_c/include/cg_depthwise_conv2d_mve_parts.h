/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_conv2d_mve_parts.h -- depthwise convolution, Helium: any window, stride, dilation,
 * padding; one output channel an input channel.
 *
 * Pixels find their taps by a table of offsets; a tap in the padding is a pixel of zero points in
 * the workspace. Pixels whose taps are all inside share a table.
 */
#ifndef CG_DEPTHWISE_CONV2D_MVE_PARTS_H
#define CG_DEPTHWISE_CONV2D_MVE_PARTS_H

#include "cg_mve_parts.h"

typedef struct {
    const cg_conv_params_mve *params;
    const cg_depthwise_mve *layer;
    cg_s32 *offsets;
    int8_t *padding; /* a pixel of zero points */
    int32_t inside_start;
    int32_t inside_stop;
} depthwise_state;

static depthwise_state begin(const cg_conv_params_mve *params, const cg_depthwise_mve *layer,
                             void *workspace)
{
    const cg_window *const window = &params->window;
    cg_s32 *const offsets = workspace;
    depthwise_state state = {.params = params, .layer = layer, .offsets = offsets};
    state.padding = (int8_t *)&offsets[window->kernel_h * window->kernel_w];
    cg_inside_mve(window, &state.inside_start, &state.inside_stop);
    if (params->is_padded != 0) {
        cg_fill_mve(state.padding, params->in_zero, layer->channels);
    }
    return state;
}

/*
 * Offsets of one row of taps, `columns` in all: column `first` of the image and those a dilation
 * apart, each from `row` on, or `padding` where it is not below `inside`. In assembly, for
 * compilers differ much in these few.
 */
static void tap_row(cg_s32 *to, const cg_window *window, int32_t first, int32_t inside, int32_t row,
                    int32_t padding)
{
    int32_t tap = 0;
    __asm__ volatile(
        "vdup.32   q1, %[padding]\n"
        "dlstp.32  lr, %[columns]\n"
        "1: vidup.u32 q0, %[tap], #1\n"
        "vmul.i32  q0, q0, %[dilation]\n"
        "vadd.i32  q0, q0, %[first]\n"
        "vcmp.u32  cs, q0, %[inside]\n"
        "vmul.i32  q0, q0, %[channels]\n"
        "vadd.i32  q0, q0, %[row]\n"
        "vpsel     q0, q1, q0\n"
        "vstrw.32  q0, [%[to]], #16\n"
        "letp      lr, 1b\n"
        : [to] "+r"(to), [tap] "+Te"(tap)
        : [columns] "r"(window->kernel_w), [dilation] "r"(window->dilation_w), [first] "r"(first),
          [inside] "r"(inside), [channels] "r"(window->in.c), [row] "r"(row), [padding] "r"(padding)
        : "lr", "q0", "q1", "memory", "cc");
}

/* Offsets from `base` of the taps of result column x, taps in the padding included. */
static void find_taps(const depthwise_state *state, const cg_taps *inside, const cg_tap_rows *rows,
                      int32_t x, uintptr_t base)
{
    const cg_window *const window = &state->params->window;
    const int32_t padding = (int32_t)((uintptr_t)state->padding - base);
    const int32_t first = (x * window->stride_w) - window->pad_left;
    int32_t row = (int32_t)((uintptr_t)rows->first - base) - (rows->x_origin * window->in.c);
    cg_s32 *offset = state->offsets;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const bool is_inside = (ky >= inside->first) && (ky < inside->stop);
        row -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        tap_row(offset, window, first, is_inside ? window->in.w : 0, row, padding);
        row += is_inside ? rows->step : 0;
        offset += window->kernel_w;
    }
}

/* `left` columns from x on, forwards (step 1) or backwards (-1); `output` is column x's. */
static void run_columns(const depthwise_state *state, const cg_view *view, const cg_tap_rows *rows,
                        int32_t x, int32_t left, int32_t step, int8_t *output)
{
    const cg_window *const window = &state->params->window;
    const bool is_whole = (view->rows.stop - view->rows.first) == window->kernel_h;
    const int32_t start = is_whole ? state->inside_start : 0;
    const int32_t stop = is_whole ? state->inside_stop : 0;
    cg_depthwise_run_mve run = {
        .offsets = state->offsets,
        .base = (uintptr_t)rows->first,
        .step = step * window->stride_w * window->in.c,
        .output_step = (step > 0) ? 0 : (-2 * state->layer->channels),
        .output = output,
    };
    while (left > 0) {
        run.pixels = 1;
        if ((x >= start) && (x < stop)) {
            const int32_t inside = (step > 0) ? (stop - x) : ((x + 1) - start);
            run.pixels = (inside < left) ? inside : left;
        }
        find_taps(state, &view->rows, rows, x, run.base);
        CG_MVE_LOOP(depthwise_pixels)(state->layer, &run);
        x += run.pixels * step;
        left -= run.pixels;
        run.output += run.pixels * step * state->layer->channels;
    }
}

void CG_MVE_NAME(depthwise_conv2d_s8_mve_row)(const cg_conv_params_mve *params,
                                              const cg_depthwise_mve *layer, void *workspace,
                                              const cg_rows *input, int8_t *output, int32_t y,
                                              int32_t x_start, int32_t x_stop)
{
    const depthwise_state state = begin(params, layer, workspace);
    cg_view view;
    cg_view_row(&view, &params->window, y);
    const cg_tap_rows rows = cg_find_tap_rows(input, &params->window, &view);
    run_columns(&state, &view, &rows, x_start, x_stop - x_start, 1, output);
}

void CG_MVE_NAME(depthwise_conv2d_s8_mve)(const cg_conv_params_mve *params,
                                          const cg_depthwise_mve *layer, void *workspace,
                                          const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const depthwise_state state = begin(params, layer, workspace);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows all = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            run_columns(&state, &view, &rows, 0, window->out.w, 1, output);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}

void CG_MVE_NAME(depthwise_conv2d_reverse_s8_mve)(const cg_conv_params_mve *params,
                                                  const cg_depthwise_mve *layer, void *workspace,
                                                  const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const depthwise_state state = begin(params, layer, workspace);
    output += (window->batch * cg_shape_elements(&window->out)) - window->out.c;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows all = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            run_columns(&state, &view, &rows, window->out.w - 1, window->out.w, -1, output);
            output -= window->out.w * window->out.c;
        }
    }
}

#endif /* CG_DEPTHWISE_CONV2D_MVE_PARTS_H */
