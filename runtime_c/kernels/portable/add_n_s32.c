/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_n_s32.c -- ADD_N, int32: sums wrap.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

void cg_add_n_s32(const cg_add_n_params *params, const void *const *inputs, cg_s32 *output)
{
    for (int32_t i = 0; i < params->elements; i++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < params->count; k++) {
            const cg_s32 *const x = inputs[k];
            sum = cg_wrapping_add(sum, x[i]);
        }
        output[i] = sum;
    }
}
