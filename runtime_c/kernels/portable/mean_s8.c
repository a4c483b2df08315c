/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s8.c -- mean over axes, int8: sums into a workspace, then one requantization per result.
 */
#include "cg_kernel_parts.h"

/* One innermost run: into one sum (step 0) or into as many sums as there are elements. */
static void add_run(const int8_t *x, cg_s32 *sums, int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *sums += x[i];
        sums += step;
    }
}

static void accumulate(const cg_reduction *reduction, const int8_t *x, cg_s32 *sums)
{
    const cg_axes *const n = &reduction->extent;
    const cg_axes *const s = &reduction->out_step;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    add_run(x, &sums[(i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3)],
                            s->d4, n->d4);
                    x += n->d4;
                }
            }
        }
    }
}

void cg_mean_s8(const cg_mean_params *params, const int8_t *input, int8_t *output, void *workspace)
{
    const int32_t out_len = params->reduction.out_len;
    cg_s32 *const sums = workspace;
    for (int32_t i = 0; i < out_len; i++) {
        sums[i] = 0;
    }
    accumulate(&params->reduction, input, sums);
    for (int32_t i = 0; i < out_len; i++) {
        output[i] = cg_store_s8(cg_wrapping_add(sums[i], params->sum_offset), params->multiplier,
                                params->shift, params->out_zero, -128, 127);
    }
}
