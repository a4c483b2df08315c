/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_s8.c -- sum of two tensors, int8, with broadcasting. Both arguments are brought to one scale
 * first.
 */
#include "cg_kernel_parts.h"

static int32_t rescale(int32_t x, int32_t left_shift, int32_t multiplier, int32_t shift)
{
    return cg_requantize((int32_t)((uint32_t)x << left_shift), multiplier, shift);
}

static void add_row(const cg_add_params *p, const int8_t *lhs, int32_t lhs_step, const int8_t *rhs,
                    int32_t rhs_step, int8_t *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t a =
            rescale(*lhs - p->lhs_zero, p->left_shift, p->lhs_multiplier, p->lhs_shift);
        const int32_t b =
            rescale(*rhs - p->rhs_zero, p->left_shift, p->rhs_multiplier, p->rhs_shift);
        *output++ = cg_store_s8(cg_wrapping_add(a, b), p->out_multiplier, p->out_shift, p->out_zero,
                                p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_add_s8, add_row, cg_add_params, int8_t)

CG_DEFINE_RUN(cg_add_s8_run, add_row, cg_add_params, int8_t)
