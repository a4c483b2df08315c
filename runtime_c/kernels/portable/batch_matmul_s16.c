/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s16.c -- BATCH_MATMUL, int16: sums of 64 bits.
 */
#include "cg_reducing.h"

static int16_t product(const cg_matmul_params *p, const cg_s16 *lhs, const cg_s16 *rhs)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += (int32_t)*lhs * *rhs;
        lhs += p->lhs_next;
        rhs += p->rhs_next;
    }
    const int32_t scaled = cg_requantize_s64(sum, p->multiplier, p->shift);
    return (int16_t)cg_clamp_s32(scaled, -32768, 32767);
}

CG_DEFINE_MATMUL(cg_batch_matmul_s16, cg_matmul_params, cg_s16)
