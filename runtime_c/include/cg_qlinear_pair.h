/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_qlinear_pair.h -- two integers as real numbers, an operator on them, an integer
 * again.
 */
#ifndef CG_QLINEAR_PAIR_H
#define CG_QLINEAR_PAIR_H

#include "cg_kernels_qlinear.h"
#include "cg_round_even.h"

/* The innermost loop of a kernel of two arguments; every operation is rounded by itself. Parameters
 * are copied: for a compiler a byte that is stored may be one of them. */
#define CG_DEFINE_QLINEAR_ROW(row, op, element)                                                    \
    static void row(const cg_qlinear_pair_params *p, const element *lhs, int32_t lhs_step,         \
                    const element *rhs, int32_t rhs_step, element *output, int32_t n)              \
    {                                                                                              \
        const int32_t lhs_zero = p->lhs_zero;                                                      \
        const int32_t rhs_zero = p->rhs_zero;                                                      \
        const int32_t out_zero = p->out_zero;                                                      \
        const float lhs_scale = p->lhs_scale;                                                      \
        const float rhs_scale = p->rhs_scale;                                                      \
        const float out_scale = p->out_scale;                                                      \
        const int32_t low = p->act_min;                                                            \
        const int32_t high = p->act_max;                                                           \
        for (int32_t i = 0; i < n; i++) {                                                          \
            const float a = cg_rounded_f32((float)(*lhs - lhs_zero) * lhs_scale);                  \
            const float b = cg_rounded_f32((float)(*rhs - rhs_zero) * rhs_scale);                  \
            const float both = cg_rounded_f32((a)op(b));                                           \
            const int32_t stored = cg_round_even(both / out_scale) + out_zero;                     \
            *output++ = (element)cg_clamp_s32(stored, low, high);                                  \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }

#endif /* CG_QLINEAR_PAIR_H */
