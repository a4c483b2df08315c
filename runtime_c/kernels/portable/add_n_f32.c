/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_n_f32.c -- ADD_N, float32.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

void cg_add_n_f32(const cg_add_n_params *params, const void *const *inputs, cg_f32 *output)
{
    for (int32_t i = 0; i < params->elements; i++) {
        float sum = 0.0f;
        for (int32_t k = 0; k < params->count; k++) {
            const cg_f32 *const x = inputs[k];
            sum += x[i];
        }
        output[i] = sum;
    }
}
