/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_narrow_mve_parts.h -- 1x1 convolution of pixels of at most 16 bytes, any stride, Helium: three
 * pixels at a time, in vectors.
 */
#ifndef CG_NARROW_MVE_PARTS_H
#define CG_NARROW_MVE_PARTS_H

#include "cg_mve_parts.h"

/* `pixels` > 0 of a row, forwards (step 1) or backwards (-1). */
static void row(const cg_conv_params_mve *params, const cg_quads_mve *layer, const int8_t *input,
                int8_t *output, int32_t pixels, int32_t step)
{
    const cg_narrow_run_mve run = {
        .input = input,
        .input_step = step * params->window.stride_w * layer->depth,
        .output = output,
        .output_step = step * layer->channels,
        .pixels = pixels,
    };
    CG_MVE_LOOP(narrow_run)(layer, &run);
}

/* True if the windows are the pixels: all of them are one row. */
static bool is_dense(const cg_window *window)
{
    return (window->stride_h == 1) && (window->stride_w == 1);
}

void CG_MVE_NAME(narrow_s8_mve_row)(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                    const cg_rows *input, int8_t *output, int32_t y,
                                    int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const size_t from = cg_rows_offset(input, y * window->stride_h, x_start * window->stride_w);
    row(params, layer, &input->base[from], output, x_stop - x_start, 1);
}

void CG_MVE_NAME(narrow_s8_mve)(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    if (is_dense(window)) {
        row(params, layer, input, output, cg_pixels_mve(window), 1);
        return;
    }
    const int32_t row_bytes = window->in.w * window->in.c;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            row(params, layer, &input[y * window->stride_h * row_bytes], output, window->out.w, 1);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
}

void CG_MVE_NAME(narrow_reverse_s8_mve)(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                        const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t pixels = cg_pixels_mve(window);
    output += (pixels - 1) * window->out.c;
    if (is_dense(window)) {
        row(params, layer, &input[(pixels - 1) * window->in.c], output, pixels, -1);
        return;
    }
    const int32_t row_bytes = window->in.w * window->in.c;
    const int32_t last = (window->out.w - 1) * window->stride_w * window->in.c;
    input += window->batch * cg_shape_elements(&window->in);
    for (int32_t b = window->batch; b > 0; b--) {
        input -= cg_shape_elements(&window->in);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            row(params, layer, &input[(y * window->stride_h * row_bytes) + last], output,
                window->out.w, -1);
            output -= window->out.w * window->out.c;
        }
    }
}

#endif /* CG_NARROW_MVE_PARTS_H */
