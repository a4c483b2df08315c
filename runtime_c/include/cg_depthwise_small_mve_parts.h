/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_small_mve_parts.h -- depthwise convolution with small windows, Helium: any stride,
 * padding, dilation; one output channel an input channel.
 */
#ifndef CG_DEPTHWISE_SMALL_MVE_PARTS_H
#define CG_DEPTHWISE_SMALL_MVE_PARTS_H

#include "cg_mve_parts.h"

#define COLUMN_BYTES 64

typedef struct {
    const cg_conv_params_mve *params;
    const cg_depthwise_small_mve *layer;
    int8_t *padding; /* 16 zero points */
    cg_stripe_mve stripe;
} stripe_state;

/* The workspace holds `held` pixels or a stripe; of fewer, its last columns are taken. */
static void begin(stripe_state *state, void *workspace, int32_t held, int32_t pixels)
{
    const cg_window *const window = &state->params->window;
    const int32_t stripe = state->layer->stripe;
    const int32_t there = cg_columns_mve(window, (held < stripe) ? held : stripe);
    const int32_t taken = cg_columns_mve(window, (pixels < stripe) ? pixels : stripe);
    int8_t *const bytes = workspace;
    state->padding = &bytes[there * COLUMN_BYTES];
    state->stripe.columns = &bytes[(there - taken) * COLUMN_BYTES];
    state->stripe.in_zero = state->params->in_zero;
    for (int32_t kx = 0; kx < 3; kx++) {
        state->stripe.column_steps[kx] = window->stride_w * COLUMN_BYTES;
        /* Columns that the window has not got have weights of 0: any will do. */
        const int32_t column = (kx < window->kernel_w) ? (kx * window->dilation_w) : 0;
        state->stripe.lanes[kx] = (column * COLUMN_BYTES) - 4;
    }
    state->stripe.column_steps[3] = 0;
    if (state->params->is_padded != 0) {
        cg_fill_mve(state->padding, state->params->in_zero, 16);
    }
}

/* Pixels [x, x + pixels) of row y, no more than a stripe. */
static void compute(stripe_state *state, const cg_view *view, const cg_rows *input, int32_t x,
                    int32_t pixels, int8_t *output)
{
    const cg_window *const window = &state->params->window;
    cg_stripe_mve *const stripe = &state->stripe;
    const cg_span_mve span = cg_find_span_mve(window, x, pixels);
    stripe->left = span.left;
    stripe->right = span.right;
    stripe->inside = span.inside;
    for (int32_t ky = 0; ky < 3; ky++) {
        const bool is_inside =
            (ky >= view->rows.first) && (ky < view->rows.stop) && (stripe->inside > 0);
        /* Rows that the window has not got have weights of 0: any will do. */
        const int32_t same = (ky < window->kernel_h) ? ky : 0;
        stripe->rows[ky] = (same == ky) ? state->padding : stripe->rows[0];
        stripe->steps[ky] = (same == ky) ? 0 : stripe->steps[0];
        stripe->block_steps[ky] = (same == ky) ? 0 : stripe->block_steps[0];
        if (is_inside) {
            const int32_t y = view->y + (ky * window->dilation_h);
            stripe->rows[ky] = &input->base[cg_rows_offset(input, y, span.first)];
            stripe->steps[ky] = window->in.c;
            stripe->block_steps[ky] = 16;
        }
    }
    stripe->pixels = pixels;
    stripe->output = output;
    CG_MVE_LOOP(depthwise_stripe)(state->layer, stripe);
}

void CG_MVE_NAME(depthwise_small_s8_mve_row)(const cg_conv_params_mve *params,
                                             const cg_depthwise_small_mve *layer, void *workspace,
                                             const cg_rows *input, int8_t *output, int32_t y,
                                             int32_t x_start, int32_t x_stop)
{
    stripe_state state = {.params = params, .layer = layer};
    begin(&state, workspace, params->window.out.w, x_stop - x_start);
    cg_view view;
    cg_view_row(&view, &params->window, y);
    for (int32_t x = x_start; x < x_stop; x += layer->stripe) {
        const int32_t left = x_stop - x;
        const int32_t pixels = (left < layer->stripe) ? left : layer->stripe;
        compute(&state, &view, input, x, pixels, output);
        output += pixels * layer->channels;
    }
}

void CG_MVE_NAME(depthwise_small_s8_mve)(const cg_conv_params_mve *params,
                                         const cg_depthwise_small_mve *layer, void *workspace,
                                         const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    stripe_state state = {.params = params, .layer = layer};
    begin(&state, workspace, window->out.w, window->out.w);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows all = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            for (int32_t x = 0; x < window->out.w; x += layer->stripe) {
                const int32_t left = window->out.w - x;
                const int32_t pixels = (left < layer->stripe) ? left : layer->stripe;
                compute(&state, &view, &all, x, pixels, output);
                output += pixels * window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}

void CG_MVE_NAME(depthwise_small_reverse_s8_mve)(const cg_conv_params_mve *params,
                                                 const cg_depthwise_small_mve *layer,
                                                 void *workspace, const int8_t *input,
                                                 int8_t *output)
{
    const cg_window *const window = &params->window;
    stripe_state state = {.params = params, .layer = layer};
    begin(&state, workspace, window->out.w, window->out.w);
    output += window->batch * cg_shape_elements(&window->out);
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows all = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            cg_view view;
            cg_view_row(&view, window, y);
            for (int32_t stop = window->out.w; stop > 0;) {
                const int32_t pixels = (stop < layer->stripe) ? stop : layer->stripe;
                stop -= pixels;
                output -= pixels * window->out.c;
                compute(&state, &view, &all, stop, pixels, output);
            }
        }
    }
}

#endif /* CG_DEPTHWISE_SMALL_MVE_PARTS_H */
