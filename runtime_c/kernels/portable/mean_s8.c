/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s8.c -- mean over axes, int8: sums into a workspace, then one requantization per result.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_SUMS(accumulate, int8_t)

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
