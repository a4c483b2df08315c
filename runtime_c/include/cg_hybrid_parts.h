/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_hybrid_parts.h -- sums of a dynamic-range layer. Included by its kernels only.
 */
#ifndef CG_HYBRID_PARTS_H
#define CG_HYBRID_PARTS_H

#include "cg_kernels_hybrid.h"
#include "cg_round_even.h"

/* sum + (x - zero) . w over n elements, `x_step` and `w_step` apart, modulo 2^32. */
static inline uint32_t cg_hybrid_dot(uint32_t sum, const int8_t *x, int32_t x_step, const int8_t *w,
                                     int32_t w_step, int32_t n, int32_t zero)
{
    for (; n > 0; n--) {
        sum += (uint32_t)((*x - zero) * *w);
        x += x_step;
        w += w_step;
    }
    return sum;
}

/* The result of channel o; every operation is rounded by itself. */
static inline float cg_hybrid_store(const cg_hybrid_weights *weights, int32_t o, uint32_t sum,
                                    float scale, float act_min, float act_max)
{
    const float units = (float)(int32_t)sum;
    const bool first = weights->channel_first != 0;
    const float left = first ? cg_rounded_f32(units * weights->scale[o]) : units;
    const float right = first ? scale : cg_rounded_f32(scale * weights->scale[o]);
    const float real = cg_rounded_f32(left * right) + weights->bias[o];
    return cg_clamp_one_f32(real, act_min, act_max);
}

/*
 * The body of a convolution: every pixel of every image, once the image is quantised, by
 * `pixel(params, weights, const cg_view *, const int8_t *image, cg_hybrid_scale, cg_f32 *output)`.
 */
#define CG_HYBRID_PIXELS(pixel)                                                                    \
    const cg_window *const window = &params->window;                                               \
    const int32_t elements = cg_shape_elements(&window->in);                                       \
    for (int32_t b = 0; b < window->batch; b++) {                                                  \
        const cg_hybrid_scale found =                                                              \
            cg_hybrid_quantize(input, elements, weights->asymmetric, image);                       \
        cg_view view;                                                                              \
        for (int32_t y = 0; y < window->out.h; y++) {                                              \
            cg_view_row(&view, window, y);                                                         \
            for (int32_t x = 0; x < window->out.w; x++) {                                          \
                cg_view_col(&view, window, x);                                                     \
                pixel(params, weights, &view, image, found, output);                               \
                output += window->out.c;                                                           \
            }                                                                                      \
        }                                                                                          \
        input += elements;                                                                         \
    }

#endif
