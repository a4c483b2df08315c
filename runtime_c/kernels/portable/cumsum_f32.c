/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumsum_f32.c -- CUMSUM, float32.
 */
#include "cg_reducing.h"

static void sum_run(const cg_cumsum_params *p, const cg_f32 *input, cg_f32 *output, int32_t step)
{
    float sum = 0.0f;
    for (int32_t i = 0; i < p->extent; i++) {
        const float next = sum + *input;
        *output = (p->exclusive != 0) ? sum : next;
        sum = next;
        input += step;
        output += step;
    }
}

CG_DEFINE_CUMSUM(cg_cumsum_f32, cg_f32)
