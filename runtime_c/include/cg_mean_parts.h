/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_mean_parts.h -- the functions of cg_mean_blocks.h around sums in assembly. Included by kernels
 * only.
 */
#ifndef CG_MEAN_PARTS_H
#define CG_MEAN_PARTS_H

#include "cg_kernel_parts.h"
#include "cg_mean_blocks.h"

static inline int8_t cg_mean_of(const cg_mean_blocks *params, int32_t sum)
{
    return cg_store_s8(cg_wrapping_add(sum, params->sum_offset), params->multiplier, params->shift,
                       params->out_zero, -128, 127);
}

/* `name` by four columns at a time, which `sums` adds up. */
#define CG_DEFINE_MEAN_ROWS(name, sums)                                                            \
    void name(const cg_mean_blocks *params, const int8_t *input, int8_t *output)                   \
    {                                                                                              \
        for (int32_t block = 0; block < params->blocks; block++) {                                 \
            for (int32_t column = 0; column < params->columns; column += 4) {                      \
                int32_t found[4];                                                                  \
                sums(&input[column], params->rows, params->columns, found);                        \
                for (int32_t i = 0; i < 4; i++) {                                                  \
                    *output++ = cg_mean_of(params, found[i]);                                      \
                }                                                                                  \
            }                                                                                      \
            input += params->rows * params->columns;                                               \
        }                                                                                          \
    }

/* `name` by a column at a time. */
#define CG_DEFINE_MEAN_ODD_ROWS(name, sum_steps)                                                   \
    void name(const cg_mean_blocks *params, const int8_t *input, int8_t *output)                   \
    {                                                                                              \
        for (int32_t block = 0; block < params->blocks; block++) {                                 \
            for (int32_t column = 0; column < params->columns; column++) {                         \
                const int32_t sum = sum_steps(&input[column], params->columns, params->rows);      \
                *output++ = cg_mean_of(params, sum);                                               \
            }                                                                                      \
            input += params->rows * params->columns;                                               \
        }                                                                                          \
    }

/* `name` by a line at a time: `sum`, or the expression of one, of `x` and `n` elements. */
#define CG_DEFINE_MEAN_LINES(name, x, n, sum)                                                      \
    void name(const cg_mean_blocks *params, const int8_t *x, int8_t *output)                       \
    {                                                                                              \
        const int32_t n = params->columns;                                                         \
        for (int32_t row = 0; row < params->rows; row++) {                                         \
            *output++ = cg_mean_of(params, sum);                                                   \
            x += n;                                                                                \
        }                                                                                          \
    }

#endif /* CG_MEAN_PARTS_H */
