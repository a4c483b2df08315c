/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pairs.h -- kernels of two arguments that differ in the element type alone. Included by kernels
 * only.
 */
#ifndef CG_PAIRS_H
#define CG_PAIRS_H

#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

/* The larger (kind 0) or the smaller (kind 1) of each pair; the second where neither is. */
#define CG_DEFINE_EXTREME(name, element)                                                           \
    static void extreme_row(const cg_pair_params *p, const element *lhs, int32_t lhs_step,         \
                            const element *rhs, int32_t rhs_step, element *output, int32_t n)      \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const element a = *lhs;                                                                \
            const element b = *rhs;                                                                \
            const bool first = (p->kind == 0) ? (a > b) : (a < b);                                 \
            *output++ = first ? a : b;                                                             \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    CG_DEFINE_BROADCAST(name, extreme_row, cg_pair_params, element)

/* Kind 0: equal, 1: not equal, 2: less, 3: less or equal. */
#define CG_HOLDS(kind, a, b)                                                                       \
    (((kind) < 2) ? (((a) == (b)) == ((kind) == 0)) : (((kind) == 2) ? ((a) < (b)) : ((a) <= (b))))

#define CG_DEFINE_COMPARE(name, element)                                                           \
    static void compare_row(const cg_pair_params *p, const element *lhs, int32_t lhs_step,         \
                            const element *rhs, int32_t rhs_step, uint8_t *output, int32_t n)      \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const element a = *lhs;                                                                \
            const element b = *rhs;                                                                \
            *output++ = CG_HOLDS(p->kind, a, b) ? 1u : 0u;                                         \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    CG_DEFINE_PAIRS(name, compare_row, cg_pair_params, element, element, uint8_t)

/* Both arguments are brought to half the larger scale first. */
#define CG_DEFINE_SQUARED_DIFFERENCE(name, element)                                                \
    static int32_t rescale(int32_t x, int32_t left_shift, int32_t multiplier, int32_t shift)       \
    {                                                                                              \
        return cg_requantize((int32_t)((uint32_t)x << left_shift), multiplier, shift);             \
    }                                                                                              \
                                                                                                   \
    static void square_row(const cg_add_params *p, const element *lhs, int32_t lhs_step,           \
                           const element *rhs, int32_t rhs_step, element *output, int32_t n)       \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const int32_t a =                                                                      \
                rescale(*lhs - p->lhs_zero, p->left_shift, p->lhs_multiplier, p->lhs_shift);       \
            const int32_t b =                                                                      \
                rescale(*rhs - p->rhs_zero, p->left_shift, p->rhs_multiplier, p->rhs_shift);       \
            const int32_t scaled =                                                                 \
                cg_requantize((a - b) * (a - b), p->out_multiplier, p->out_shift);                 \
            const int32_t stored = cg_wrapping_add(scaled, p->out_zero);                           \
            *output++ = (element)cg_clamp_s32(stored, p->act_min, p->act_max);                     \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    CG_DEFINE_BROADCAST(name, square_row, cg_add_params, element)

#define CG_DEFINE_PRELU(name, element)                                                             \
    static void prelu_row(const cg_prelu_params *p, const element *lhs, int32_t lhs_step,          \
                          const int8_t *rhs, int32_t rhs_step, element *output, int32_t n)         \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const int32_t x = *lhs - p->in_zero;                                                   \
            const int32_t scaled = (x >= 0) ? cg_requantize(x, p->multiplier, p->shift)            \
                                            : cg_requantize(x * (*rhs - p->slope_zero),            \
                                                            p->slope_multiplier, p->slope_shift);  \
            const int32_t stored = cg_wrapping_add(scaled, p->out_zero);                           \
            *output++ = (element)cg_clamp_s32(stored, p->act_min, p->act_max);                     \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    CG_DEFINE_PAIRS(name, prelu_row, cg_prelu_params, element, int8_t, element)

#endif /* CG_PAIRS_H */
