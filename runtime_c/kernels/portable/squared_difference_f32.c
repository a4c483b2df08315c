/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squared_difference_f32.c -- squares of differences, float32, with broadcasting.
 */
#include "cg_pairs.h"

static void square_row(const cg_binary_params_f32 *p, const cg_f32 *lhs, int32_t lhs_step,
                       const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const float difference = *lhs - *rhs;
        *output++ = cg_clamp_one_f32(difference * difference, p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_squared_difference_f32, square_row, cg_binary_params_f32, cg_f32)
