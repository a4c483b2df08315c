/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_s16.c -- sum of two tensors, int16, with broadcasting. Both arguments are brought to one
 * scale first.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

static int32_t rescale(int32_t x, int32_t left_shift, int32_t multiplier, int32_t shift)
{
    return cg_requantize((int32_t)((uint32_t)x << left_shift), multiplier, shift);
}

static void add_row(const cg_add_params *p, const cg_s16 *lhs, int32_t lhs_step, const cg_s16 *rhs,
                    int32_t rhs_step, cg_s16 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = rescale(*lhs, p->left_shift, p->lhs_multiplier, p->lhs_shift);
        const int32_t b = rescale(*rhs, p->left_shift, p->rhs_multiplier, p->rhs_shift);
        *output++ = cg_store_s16(cg_wrapping_add(a, b), p->out_multiplier, p->out_shift, p->act_min,
                                 p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_add_s16, add_row, cg_add_params, cg_s16)
