/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_resize.h -- RESIZE_BILINEAR for one element type. Included by its kernels only, which have
 *
 *   place_of(params, i, rows, &weight): the pixel in front of result i along the rows or columns,
 *     and the weight of the one behind it; 0 where there is none;
 *   mix(top, bottom, step, channels, down, beside, output): a pixel from those at top left and
 * bottom left, and `step` elements right of both, by the weights of the lower and of the right
 * ones.
 */
#ifndef CG_RESIZE_H
#define CG_RESIZE_H

#include "cg_kernels_families.h"

#define CG_DEFINE_RESIZE(name, params_type, element, weight)                                       \
    static element *resize_row(const params_type *p, const element *top, const element *bottom,    \
                               weight down, element *output)                                       \
    {                                                                                              \
        for (int32_t x = 0; x < p->out_columns; x++) {                                             \
            weight beside = 0;                                                                     \
            const int32_t left = place_of(p, x, false, &beside) * p->channels;                     \
            const int32_t step = (beside > 0) ? p->channels : 0;                                   \
            mix(&top[left], &bottom[left], step, p->channels, down, beside, output);               \
            output += p->channels;                                                                 \
        }                                                                                          \
        return output;                                                                             \
    }                                                                                              \
                                                                                                   \
    void name(const params_type *params, const element *input, element *output)                    \
    {                                                                                              \
        const int32_t row = params->columns * params->channels;                                    \
        for (int32_t n = 0; n < params->batches; n++) {                                            \
            for (int32_t y = 0; y < params->out_rows; y++) {                                       \
                weight down = 0;                                                                   \
                const element *const top = &input[place_of(params, y, true, &down) * row];         \
                output = resize_row(params, top, &top[(down > 0) ? row : 0], down, output);        \
            }                                                                                      \
            input += params->rows * row;                                                           \
        }                                                                                          \
    }

#endif /* CG_RESIZE_H */
