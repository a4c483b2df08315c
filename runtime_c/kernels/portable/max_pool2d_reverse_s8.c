/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_reverse_s8.c -- largest element inside a window, int8, from the last pixel to the
 * first: for a result that starts above its image. All else as in max_pool2d_s8.c.
 */
#include "cg_kernel_parts.h"

void cg_max_pool2d_reverse_s8(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows rows = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        int8_t *pixel = &output[(b + 1) * cg_shape_elements(&window->out)];
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            for (int32_t x = window->out.w - 1; x >= 0; x--) {
                pixel -= window->out.c;
                cg_max_pool2d_s8_row(params, &rows, pixel, y, x, x + 1);
            }
        }
    }
}
