/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumsum_s8.c -- CUMSUM, int8.
 */
#include "cg_reducing.h"

/* Sums are in units of 2^-19 and begin with minus the zero point, which is TFLite's; they wrap. */
static void sum_run(const cg_cumsum_params *p, const int8_t *input, int8_t *output, int32_t step)
{
    uint32_t sum = (uint32_t)-p->in_zero;
    for (int32_t i = 0; i < p->extent; i++) {
        const uint32_t next = sum + (uint32_t)(*input - p->in_zero);
        const uint32_t given = (p->exclusive != 0) ? sum : next;
        sum = next;
        *output =
            cg_store_s8((int32_t)(given << 19), p->multiplier, p->shift, p->out_zero, -128, 127);
        input += step;
        output += step;
    }
}

CG_DEFINE_CUMSUM(cg_cumsum_s8, int8_t)
