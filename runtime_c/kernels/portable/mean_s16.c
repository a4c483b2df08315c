/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s16.c -- mean over axes, int16: sums into a workspace, then one requantization per result.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

/* One innermost run: into one sum (step 0) or into as many sums as there are elements. */
static void add_run(const cg_s16 *x, cg_s32 *sums, int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *sums += x[i];
        sums += step;
    }
}

static void accumulate(const cg_reduction *reduction, const cg_s16 *x, cg_s32 *sums)
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

void cg_mean_s16(const cg_mean_params *params, const cg_s16 *input, cg_s16 *output, void *workspace)
{
    const int32_t out_len = params->reduction.out_len;
    cg_s32 *const sums = workspace;
    for (int32_t i = 0; i < out_len; i++) {
        sums[i] = 0;
    }
    accumulate(&params->reduction, input, sums);
    for (int32_t i = 0; i < out_len; i++) {
        output[i] = cg_store_s16(sums[i], params->multiplier, params->shift, -32768, 32767);
    }
}
