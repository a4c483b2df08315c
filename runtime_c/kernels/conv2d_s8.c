/*
 * conv2d_s8.c -- 2-D convolution, int8, portable: any stride, dilation, padding, groups.
 *
 * The input's zero point is folded into the bias, so the inner loop multiplies stored values as
 * they are; a tap in the padding then counts as the zero point instead of as nothing.
 */
#include "cg_kernel_parts.h"

/* Where taps lie in memory. Without dilation and groups, taps of a row are one run of elements. */
typedef struct {
    int32_t channels; /* input channels of a group */
    int32_t row_step; /* elements of the image from one tap row to the next */
    int32_t run_step; /* elements of the image from one run to the next */
    int32_t runs;     /* runs in one row of taps that are inside the image */
    int32_t run_len;  /* elements in a run */
} tap_layout;

static tap_layout layout_of(const cg_conv_params *params, const cg_taps *cols)
{
    const cg_window *const window = &params->window;
    const int32_t inside = cols->stop - cols->first;
    tap_layout layout = {
        .channels = window->in.c / params->groups,
        .row_step = window->dilation_h * window->in.w * window->in.c,
        .run_step = window->dilation_w * window->in.c,
        .runs = inside,
        .run_len = window->in.c / params->groups,
    };
    if ((params->groups == 1) && (window->dilation_w == 1)) {
        layout.runs = (inside > 0) ? 1 : 0;
        layout.run_len = inside * layout.channels;
    }
    return layout;
}

static uint32_t sum_of(uint32_t sum, const int8_t *w, int32_t n)
{
    for (; n > 0; n--) {
        const int32_t weight = *w++;
        sum += (uint32_t)weight;
    }
    return sum;
}

/* Taps inside times image, plus taps in the padding times the zero point. */
static uint32_t window_dot(const cg_conv_params *params, const tap_layout *layout,
                           const cg_view *view, const int8_t *image, const int8_t *w)
{
    const cg_window *const window = &params->window;
    const int32_t left = view->cols.first * layout->channels;
    const int32_t right = (window->kernel_w - view->cols.stop) * layout->channels;
    uint32_t sum = 0;
    uint32_t padded = 0;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        if ((ky < view->rows.first) || (ky >= view->rows.stop)) {
            padded = sum_of(padded, w, window->kernel_w * layout->channels);
            w += window->kernel_w * layout->channels;
            continue;
        }
        padded = sum_of(padded, w, left);
        w += left;
        const int8_t *run = image;
        for (int32_t i = 0; i < layout->runs; i++) {
            sum = cg_dot_s8(sum, run, w, layout->run_len);
            w += layout->run_len;
            run += layout->run_step;
        }
        padded = sum_of(padded, w, right);
        w += right;
        image += layout->row_step;
    }
    return sum + (padded * (uint32_t)params->in_zero);
}

/* All output channels of one pixel. */
static void conv_pixel(const cg_conv_params *params, const cg_conv_weights *weights,
                       const cg_view *view, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const tap_layout layout = layout_of(params, &view->cols);
    const int32_t taps = window->kernel_h * window->kernel_w * layout.channels;
    const int32_t group_len = window->out.c / params->groups;
    const bool inside = (view->rows.stop > view->rows.first) && (layout.runs > 0);
    const int8_t *image = inside ? &input[cg_view_start(view, window)] : input;
    const int8_t *w = weights->weight;
    const int32_t *multiplier = weights->multiplier;
    const int8_t *shift = weights->shift;
    int32_t group_left = group_len;
    for (int32_t o = 0; o < window->out.c; o++) {
        const uint32_t sum = window_dot(params, &layout, view, image, w);
        output[o] = cg_store_s8((int32_t)((uint32_t)weights->bias[o] + sum), *multiplier, *shift,
                                params->out_zero, params->act_min, params->act_max);
        w += taps;
        multiplier += weights->scale_step;
        shift += weights->scale_step;
        group_left--;
        if (group_left == 0) {
            group_left = group_len;
            image += layout.channels;
        }
    }
}

void cg_conv2d_s8(const cg_conv_params *params, const cg_conv_weights *weights, const int8_t *input,
                  int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            for (int32_t x = 0; x < window->out.w; x++) {
                cg_view_col(&view, window, x);
                conv_pixel(params, weights, &view, input, output);
                output += window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}
