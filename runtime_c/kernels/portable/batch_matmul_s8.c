/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s8.c -- BATCH_MATMUL, int8.
 */
#include "cg_reducing.h"

static int8_t product(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs)
{
    const int32_t sum = cg_matmul_sum_s8(p, lhs, rhs);
    return cg_store_s8(sum, p->multiplier, p->shift, p->out_zero, -128, 127);
}

CG_DEFINE_MATMUL(cg_batch_matmul_s8, cg_matmul_params, int8_t)
