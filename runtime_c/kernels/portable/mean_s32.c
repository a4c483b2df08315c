/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s32.c -- MEAN and SUM (a count of 1) over axes, int32: sums of 64 bits in a workspace.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

static void add_run(const cg_s32 *x, cg_s64 *sums, int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        *sums += x[i];
        sums += step;
    }
}

/* Towards zero, digit by digit: no core divides 64 bits. A mean of int32 numbers has 32. */
static int32_t quotient(int64_t total, uint32_t count)
{
    const uint64_t size = (total < 0) ? (0u - (uint64_t)total) : (uint64_t)total;
    const uint32_t low = (uint32_t)size;
    uint32_t rest = (uint32_t)(size >> 32);
    uint32_t found = 0u;
    for (int32_t bit = 31; bit >= 0; bit--) {
        rest = (rest << 1) | ((low >> bit) & 1u);
        found <<= 1;
        if (rest >= count) {
            rest -= count;
            found |= 1u;
        }
    }
    return (int32_t)((total < 0) ? (0u - found) : found);
}

void cg_mean_s32(const cg_reduction *params, const cg_s32 *input, cg_s32 *output, void *workspace)
{
    const cg_axes *const n = &params->extent;
    const cg_axes *const s = &params->out_step;
    cg_s64 *const sums = workspace;
    for (int32_t i = 0; i < params->out_len; i++) {
        sums[i] = 0;
    }
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    const int32_t at = (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);
                    add_run(input, &sums[at], s->d4, n->d4);
                    input += n->d4;
                }
            }
        }
    }
    for (int32_t i = 0; i < params->out_len; i++) {
        output[i] =
            (params->count == 1) ? (int32_t)sums[i] : quotient(sums[i], (uint32_t)params->count);
    }
}
