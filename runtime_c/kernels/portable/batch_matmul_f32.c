/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_f32.c -- BATCH_MATMUL, float32: one product after the other, as the reference sums.
 */
#include "cg_reducing.h"

static float product(const cg_matmul_params_f32 *p, const cg_f32 *lhs, const cg_f32 *rhs)
{
    float sum = 0.0f;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += *lhs * *rhs;
        lhs += p->lhs_next;
        rhs += p->rhs_next;
    }
    return sum;
}

CG_DEFINE_MATMUL(cg_batch_matmul_f32, cg_matmul_params_f32, cg_f32)
