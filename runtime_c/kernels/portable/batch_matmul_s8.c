/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s8.c -- BATCH_MATMUL, int8.
 */
#include "cg_reducing.h"

static int8_t product(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs)
{
    uint32_t sum = 0u;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += (uint32_t)((*lhs - p->lhs_zero) * (*rhs - p->rhs_zero));
        lhs += p->lhs_next;
        rhs += p->rhs_next;
    }
    return cg_store_s8((int32_t)sum, p->multiplier, p->shift, p->out_zero, -128, 127);
}

CG_DEFINE_MATMUL(cg_batch_matmul_s8, cg_matmul_params, int8_t)
