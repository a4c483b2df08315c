/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_f32.c -- mean over axes, float32. Sums build up in the output.
 */
#include "cg_kernel_parts.h"

/* One innermost run: into one sum (step 0) or into as many sums as there are elements. */
static void add_run(const cg_f32 *x, cg_f32 *sums, int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *sums += x[i];
        sums += step;
    }
}

void cg_mean_f32(const cg_reduction *params, const cg_f32 *input, cg_f32 *output)
{
    const cg_axes *const n = &params->extent;
    const cg_axes *const s = &params->out_step;
    for (int32_t i = 0; i < params->out_len; i++) {
        output[i] = 0.0f;
    }
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    const int32_t at = (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);
                    add_run(input, &output[at], s->d4, n->d4);
                    input += n->d4;
                }
            }
        }
    }
    for (int32_t i = 0; i < params->out_len; i++) {
        output[i] /= (float)params->count;
    }
}
