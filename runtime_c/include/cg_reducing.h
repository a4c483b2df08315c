/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_reducing.h -- reductions and products that differ in the element type alone. Included by
 * kernels only.
 */
#ifndef CG_REDUCING_H
#define CG_REDUCING_H

#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

/* Every result begins as the first element that belongs to it: all come before what they are
 * compared with. */
#define CG_DEFINE_REDUCE(name, element)                                                            \
    static void reduce_run(const element *x, element *best, int32_t step, int32_t n, int32_t kind, \
                           bool first)                                                             \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const bool wins = (kind == 0) ? (x[i] > *best) : (x[i] < *best);                       \
            if (wins || (first && ((step != 0) || (i == 0)))) {                                    \
                *best = x[i];                                                                      \
            }                                                                                      \
            best += step;                                                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void name(const cg_reduce_params *params, const element *input, element *output)               \
    {                                                                                              \
        const cg_axes *const n = &params->reduction.extent;                                        \
        const cg_axes *const s = &params->reduction.out_step;                                      \
        for (int32_t i0 = 0; i0 < n->d0; i0++) {                                                   \
            for (int32_t i1 = 0; i1 < n->d1; i1++) {                                               \
                for (int32_t i2 = 0; i2 < n->d2; i2++) {                                           \
                    for (int32_t i3 = 0; i3 < n->d3; i3++) {                                       \
                        const bool first =                                                         \
                            ((i0 == 0) || (s->d0 != 0)) && ((i1 == 0) || (s->d1 != 0)) &&          \
                            ((i2 == 0) || (s->d2 != 0)) && ((i3 == 0) || (s->d3 != 0));            \
                        const int32_t at =                                                         \
                            (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);             \
                        reduce_run(input, &output[at], s->d4, n->d4, params->kind, first);         \
                        input += n->d4;                                                            \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define CG_DEFINE_ARG(name, element)                                                               \
    void name(const cg_arg_params *params, const element *input, cg_s32 *output)                   \
    {                                                                                              \
        for (int32_t outer = 0; outer < params->outer; outer++) {                                  \
            for (int32_t inner = 0; inner < params->inner; inner++) {                              \
                element best = input[inner];                                                       \
                int32_t found = 0;                                                                 \
                for (int32_t i = 1; i < params->extent; i++) {                                     \
                    const element x = input[(i * params->inner) + inner];                          \
                    if ((params->kind == 0) ? (x > best) : (x < best)) {                           \
                        best = x;                                                                  \
                        found = i;                                                                 \
                    }                                                                              \
                }                                                                                  \
                *output++ = found;                                                                 \
            }                                                                                      \
            input += params->extent * params->inner;                                               \
        }                                                                                          \
    }

/* A statement for each pair of matrices: `a` and `b` are where they begin in lhs and rhs. */
#define CG_EACH_PAIR_OF_MATRICES(params, a, b, ...)                                                \
    for (int32_t i0 = 0; i0 < (params)->extent.d0; i0++) {                                         \
        for (int32_t i1 = 0; i1 < (params)->extent.d1; i1++) {                                     \
            for (int32_t i2 = 0; i2 < (params)->extent.d2; i2++) {                                 \
                for (int32_t i3 = 0; i3 < (params)->extent.d3; i3++) {                             \
                    for (int32_t i4 = 0; i4 < (params)->extent.d4; i4++) {                         \
                        const cg_axes *const l = &(params)->lhs_step;                              \
                        const cg_axes *const r = &(params)->rhs_step;                              \
                        const int32_t a = (i0 * l->d0) + (i1 * l->d1) + (i2 * l->d2) +             \
                                          (i3 * l->d3) + (i4 * l->d4);                             \
                        const int32_t b = (i0 * r->d0) + (i1 * r->d1) + (i2 * r->d2) +             \
                                          (i3 * r->d3) + (i4 * r->d4);                             \
                        __VA_ARGS__;                                                               \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Sum of the products of a row of lhs and a column of rhs, less their zero points. */
static inline int32_t cg_matmul_sum_s8(const cg_matmul_params *p, const int8_t *lhs,
                                       const int8_t *rhs)
{
    uint32_t sum = 0u;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += (uint32_t)((*lhs - p->lhs_zero) * (*rhs - p->rhs_zero));
        lhs += p->lhs_next;
        rhs += p->rhs_next;
    }
    return (int32_t)sum;
}

/* Matrices one after the other, each element by `product(params, row of lhs, column of rhs)`. */
#define CG_DEFINE_MATMUL(name, params_type, element)                                               \
    static element *multiply(const params_type *p, const element *lhs, const element *rhs,         \
                             element *output)                                                      \
    {                                                                                              \
        for (int32_t row = 0; row < p->rows; row++) {                                              \
            for (int32_t column = 0; column < p->columns; column++) {                              \
                *output++ = product(p, &lhs[row * p->lhs_row], &rhs[column * p->rhs_column]);      \
            }                                                                                      \
        }                                                                                          \
        return output;                                                                             \
    }                                                                                              \
                                                                                                   \
    void name(const params_type *params, const element *lhs, const element *rhs, element *output)  \
    {                                                                                              \
        CG_EACH_PAIR_OF_MATRICES(params, a, b,                                                     \
                                 output = multiply(params, &lhs[a], &rhs[b], output))              \
    }

/* Lines along an axis, each by `sum_run(params, first of input, of output, step to the next)`. */
#define CG_DEFINE_CUMSUM(name, element)                                                            \
    void name(const cg_cumsum_params *params, const element *input, element *output)               \
    {                                                                                              \
        const int32_t block = params->extent * params->inner;                                      \
        const int32_t last = block - params->inner;                                                \
        const bool back = params->reverse != 0;                                                    \
        for (int32_t outer = 0; outer < params->outer; outer++) {                                  \
            for (int32_t inner = 0; inner < params->inner; inner++) {                              \
                const int32_t first = inner + (back ? last : 0);                                   \
                sum_run(params, &input[first], &output[first],                                     \
                        back ? -params->inner : params->inner);                                    \
            }                                                                                      \
            input += block;                                                                        \
            output += block;                                                                       \
        }                                                                                          \
    }

#endif /* CG_REDUCING_H */
