/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelu_f32.c -- PRELU, float32, with broadcasting.
 */
#include "cg_pairs.h"

static void prelu_row(const cg_pair_params *p, const cg_f32 *lhs, int32_t lhs_step,
                      const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)
{
    (void)p;
    for (int32_t i = 0; i < n; i++) {
        const float x = *lhs;
        *output++ = (x >= 0.0f) ? x : (x * *rhs);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_prelu_f32, prelu_row, cg_pair_params, cg_f32)
