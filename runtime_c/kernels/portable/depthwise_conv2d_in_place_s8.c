/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_in_place_s8.c -- depthwise convolution, int8, multiplier 1, stride 1, result as
 * large as the image and in its very bytes: channel by channel, the rows a window still needs in a
 * ring of padded rows.
 */
#include <string.h>

#include "cg_kernel_parts.h"

/* One channel of an image, and the ring of its rows that were read and not yet used up. */
typedef struct {
    int8_t *image;
    int8_t *ring;
    int32_t ring_rows;
    int32_t row_len; /* elements of a padded row */
} channel_plane;

/* Image row y, padded left and right, into ring row `at`; outside the image all is padding. */
static void load_row(const cg_conv_params *params, const channel_plane *plane, int32_t at,
                     int32_t y)
{
    const cg_window *const window = &params->window;
    int8_t *row = &plane->ring[at * plane->row_len];
    memset(row, params->in_zero, (size_t)plane->row_len);
    if ((y < 0) || (y >= window->in.h)) {
        return;
    }
    const int8_t *x = &plane->image[y * window->in.w * window->in.c];
    row += window->pad_left;
    for (int32_t n = window->in.w; n > 0; n--) {
        *row++ = *x;
        x += window->in.c;
    }
}

/* The window whose first row is ring row `first`, at column x. */
static uint32_t ring_dot(const cg_conv_params *params, const channel_plane *plane, int32_t first,
                         int32_t x, const int8_t *w)
{
    const cg_window *const window = &params->window;
    uint32_t sum = 0;
    int32_t at = first;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        const int8_t *tap = &plane->ring[(at * plane->row_len) + x];
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            sum += (uint32_t)((*tap - params->in_zero) * *w);
            tap += window->dilation_w;
            w += window->out.c;
        }
        at += window->dilation_h;
        if (at >= plane->ring_rows) {
            at -= plane->ring_rows;
        }
    }
    return sum;
}

static void depthwise_plane(const cg_conv_params *params, const cg_conv_weights *weights,
                            const channel_plane *plane, int32_t c)
{
    const cg_window *const window = &params->window;
    const int32_t multiplier = weights->multiplier[c * weights->scale_step];
    const int32_t shift = weights->shift[c * weights->scale_step];
    for (int32_t at = 0; at < (plane->ring_rows - 1); at++) {
        load_row(params, plane, at, at - window->pad_top);
    }
    int8_t *output = plane->image;
    int32_t first = 0;
    for (int32_t y = 0; y < window->out.h; y++) {
        const int32_t last = (first == 0) ? (plane->ring_rows - 1) : (first - 1);
        load_row(params, plane, last, y + plane->ring_rows - 1 - window->pad_top);
        for (int32_t x = 0; x < window->out.w; x++) {
            const uint32_t sum = ring_dot(params, plane, first, x, &weights->weight[c]);
            *output = cg_store_s8((int32_t)((uint32_t)weights->bias[c] + sum), multiplier, shift,
                                  params->out_zero, params->act_min, params->act_max);
            output += window->out.c;
        }
        first = (first == (plane->ring_rows - 1)) ? 0 : (first + 1);
    }
}

void cg_depthwise_conv2d_in_place_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                                     int8_t *image, void *workspace)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->out.c; c++) {
            const channel_plane plane = {
                .image = &image[c],
                .ring = workspace,
                .ring_rows = ((window->kernel_h - 1) * window->dilation_h) + 1,
                .row_len = window->in.w + ((window->kernel_w - 1) * window->dilation_w),
            };
            depthwise_plane(params, weights, &plane, c);
        }
        image += cg_shape_elements(&window->in);
    }
}
