/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_f32.c -- sum of two tensors, float32, with broadcasting.
 */
#include "cg_kernel_parts.h"

static void add_row(const cg_binary_params_f32 *p, const cg_f32 *lhs, int32_t lhs_step,
                    const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *output++ = cg_clamp_one_f32(*lhs + *rhs, p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_add_f32, add_row, cg_binary_params_f32, cg_f32)

void cg_add_f32_run(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    cg_f32 *output, int32_t count)
{
    add_row(params, lhs, 1, rhs, 1, output, count);
}
