/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_batch_matmul_s8.c -- batch_matmul_s8.c with sums that are rounded as ONNX does.
 */
#include "cg_kernels_qlinear.h"
#include "cg_reducing.h"
#include "cg_round_even.h"

static int8_t product(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs)
{
    const int32_t sum = cg_matmul_sum_s8(p, lhs, rhs);
    return cg_store_even_s8(sum, p->multiplier, p->shift, p->out_zero, -128, 127);
}

CG_DEFINE_MATMUL(cg_qlinear_batch_matmul_s8, cg_matmul_params, int8_t)
