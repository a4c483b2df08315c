/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s16.c -- mean over axes, int16: sums into a workspace, then one requantization per result.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

CG_DEFINE_SUMS(accumulate, cg_s16)

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
