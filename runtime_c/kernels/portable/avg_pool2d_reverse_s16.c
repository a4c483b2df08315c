/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_reverse_s16.c -- average pool, int16, from the last pixel to the first: for a result
 * that starts above its image. All else as in avg_pool2d_s16.c.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

void cg_avg_pool2d_reverse_s16(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_s16 *image = &input[b * cg_shape_elements(&window->in)];
        cg_s16 *pixel = &output[(b + 1) * cg_shape_elements(&window->out)];
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            for (int32_t x = window->out.w - 1; x >= 0; x--) {
                pixel -= window->out.c;
                cg_avg_pool2d_s16_part(params, image, pixel, y, x, x + 1);
            }
        }
    }
}
