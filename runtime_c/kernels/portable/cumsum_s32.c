/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumsum_s32.c -- CUMSUM, int32; sums wrap.
 */
#include "cg_reducing.h"

static void sum_run(const cg_cumsum_params *p, const cg_s32 *input, cg_s32 *output, int32_t step)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < p->extent; i++) {
        const int32_t next = cg_wrapping_add(sum, *input);
        *output = (p->exclusive != 0) ? sum : next;
        sum = next;
        input += step;
        output += step;
    }
}

CG_DEFINE_CUMSUM(cg_cumsum_s32, cg_s32)
