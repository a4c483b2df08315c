/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_in_place_mve_parts.h -- depthwise convolution with small windows in place of its
 * image, Helium: stride 1, one output channel an input channel, a result as large as the image.
 */
#ifndef CG_DEPTHWISE_IN_PLACE_MVE_PARTS_H
#define CG_DEPTHWISE_IN_PLACE_MVE_PARTS_H

#include "cg_mve_parts.h"

#define COLUMN_BYTES 64
#define BLOCK        16
#define QUAD_BYTES   84 /* of the stream */

void CG_MVE_NAME(depthwise_in_place_s8_mve)(const cg_conv_params_mve *params,
                                            const cg_depthwise_small_mve *layer, void *workspace,
                                            int8_t *image)
{
    const cg_window *const window = &params->window;
    const int32_t columns = window->in.w + ((window->kernel_w - 1) * window->dilation_w);
    int8_t *const bytes = workspace;
    int8_t *const padding = &bytes[columns * COLUMN_BYTES];
    if (params->is_padded != 0) {
        cg_fill_mve(padding, params->in_zero, BLOCK);
    }
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->in.c; c += BLOCK) {
            const int32_t left = window->in.c - c;
            cg_replaced_mve plane = {
                .image = &image[c],
                .rows = window->in.h,
                .inside = &bytes[window->pad_left * COLUMN_BYTES],
                .width = window->in.w,
                .padding = padding,
                .early = window->kernel_h - 1 - window->pad_top,
                .columns = workspace,
                .column_steps = {COLUMN_BYTES, COLUMN_BYTES, COLUMN_BYTES, 0},
                .pixels = window->in.w,
                .output = &image[c],
                .left = window->in.h,
                .stream = &layer->stream[(c / 4) * QUAD_BYTES],
                .channels = (left < BLOCK) ? left : BLOCK,
            };
            for (int32_t kx = 0; kx < 3; kx++) {
                /* Columns that the window has not got have weights of 0: any will do. */
                const int32_t column = (kx < window->kernel_w) ? (kx * window->dilation_w) : 0;
                plane.lanes[kx] = (column * COLUMN_BYTES) - 4;
            }
            cg_fill_mve(bytes, params->in_zero, columns * COLUMN_BYTES);
            CG_MVE_LOOP(depthwise_replace)(layer, &plane);
        }
        image += cg_shape_elements(&window->in);
    }
}

#endif /* CG_DEPTHWISE_IN_PLACE_MVE_PARTS_H */
