/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mul_s8.c -- product of two tensors, int8, with broadcasting.
 */
#include "cg_kernel_parts.h"

static void mul_row(const cg_mul_params *p, const int8_t *lhs, int32_t lhs_step, const int8_t *rhs,
                    int32_t rhs_step, int8_t *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t product = (*lhs - p->lhs_zero) * (*rhs - p->rhs_zero);
        *output++ =
            cg_store_s8(product, p->multiplier, p->shift, p->out_zero, p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_mul_s8, mul_row, cg_mul_params, int8_t)
