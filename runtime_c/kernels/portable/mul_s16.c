/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mul_s16.c -- product of two tensors, int16, with broadcasting.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

static void mul_row(const cg_mul_params *p, const cg_s16 *lhs, int32_t lhs_step, const cg_s16 *rhs,
                    int32_t rhs_step, cg_s16 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *output++ = cg_store_s16(*lhs * *rhs, p->multiplier, p->shift, p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_mul_s16, mul_row, cg_mul_params, cg_s16)
