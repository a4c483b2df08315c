/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_n_s8.c -- ADD_N, int8.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

/* Sums are in units of 2^-19 and begin with minus the zero point, which is TFLite's; they wrap. */
void cg_add_n_s8(const cg_add_n_params *params, const void *const *inputs, int8_t *output)
{
    for (int32_t i = 0; i < params->elements; i++) {
        uint32_t sum = (uint32_t)-params->in_zero;
        for (int32_t k = 0; k < params->count; k++) {
            const int8_t *const x = inputs[k];
            sum += (uint32_t)(x[i] - params->in_zero);
        }
        output[i] = cg_store_s8((int32_t)(sum << 19), params->multiplier, params->shift,
                                params->out_zero, -128, 127);
    }
}
