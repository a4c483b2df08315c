/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_in_place_f32.c -- depthwise convolution, float32, multiplier 1, stride 1, result
 * as large as the image and in its very bytes: channel by channel, the rows a window still needs in
 * a ring. Taps are summed in the order of cg_depthwise_conv2d_f32, those in the padding left out.
 */
#include "cg_kernel_parts.h"

/* One channel of an image, and the ring of its rows that were read and not yet used up. */
typedef struct {
    cg_f32 *image;
    cg_f32 *ring;
    int32_t ring_rows;
} channel_plane;

/* Row y of the channel into its place in the ring. */
static void load_row(const cg_window *window, const channel_plane *plane, int32_t y)
{
    const cg_f32 *x = &plane->image[y * window->in.w * window->in.c];
    cg_f32 *row = &plane->ring[(y % plane->ring_rows) * window->in.w];
    for (int32_t n = window->in.w; n > 0; n--) {
        *row++ = *x;
        x += window->in.c;
    }
}

/* The taps inside of the window at `view`, the first row of them in place `line` of the ring. */
static float ring_dot(const cg_window *window, const channel_plane *plane, const cg_view *view,
                      int32_t line, const float *w)
{
    const int32_t column = view->x + (view->cols.first * window->dilation_w);
    const int32_t first_tap = (view->rows.first * window->kernel_w) + view->cols.first;
    const float *w_row = &w[first_tap * window->out.c];
    float sum = 0.0f;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        const cg_f32 *tap = &plane->ring[(line * window->in.w) + column];
        const float *weight = w_row;
        for (int32_t n = view->cols.stop - view->cols.first; n > 0; n--) {
            sum += *tap * *weight;
            tap += window->dilation_w;
            weight += window->out.c;
        }
        w_row += window->kernel_w * window->out.c;
        line += window->dilation_h;
        line -= (line >= plane->ring_rows) ? plane->ring_rows : 0;
    }
    return sum;
}

/* Row y of the result, whose windows' rows are in the ring. */
static void plane_row(const cg_conv_params_f32 *params, const float *w, float bias,
                      const channel_plane *plane, int32_t y)
{
    const cg_window *const window = &params->window;
    cg_f32 *output = &plane->image[y * window->out.w * window->out.c];
    cg_view view;
    cg_view_row(&view, window, y);
    const bool any_row = view.rows.stop > view.rows.first;
    const int32_t top = view.y + (view.rows.first * window->dilation_h);
    const int32_t line = any_row ? (top % plane->ring_rows) : 0;
    for (int32_t x = 0; x < window->out.w; x++) {
        cg_view_col(&view, window, x);
        const bool inside = any_row && (view.cols.stop > view.cols.first);
        const float sum = inside ? ring_dot(window, plane, &view, line, w) : 0.0f;
        *output = cg_clamp_one_f32(sum + bias, params->act_min, params->act_max);
        output += window->out.c;
    }
}

static void depthwise_plane(const cg_conv_params_f32 *params, const float *w, float bias,
                            const channel_plane *plane)
{
    const cg_window *const window = &params->window;
    const int32_t below = ((window->kernel_h - 1) * window->dilation_h) - window->pad_top;
    int32_t loaded = 0;
    for (int32_t y = 0; y < window->out.h; y++) {
        for (; (loaded <= (y + below)) && (loaded < window->in.h); loaded++) {
            load_row(window, plane, loaded);
        }
        plane_row(params, w, bias, plane, y);
    }
}

void cg_depthwise_conv2d_in_place_f32(const cg_conv_params_f32 *params,
                                      const cg_conv_weights_f32 *weights, cg_f32 *image,
                                      void *workspace)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->out.c; c++) {
            const channel_plane plane = {
                .image = &image[c],
                .ring = workspace,
                .ring_rows = cg_covered_rows(window),
            };
            depthwise_plane(params, &weights->weight[c], weights->bias[c], &plane);
        }
        image += cg_shape_elements(&window->in);
    }
}
