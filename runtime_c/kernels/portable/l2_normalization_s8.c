/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l2_normalization_s8.c -- L2_NORMALIZATION over the last axis, int8; results have scale 1/128.
 */
#include "cg_inverse_root.h"
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

void cg_l2_normalization_s8(const cg_rows_params *params, const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        int32_t squares = 0;
        for (int32_t i = 0; i < params->depth; i++) {
            const int32_t x = input[i] - params->in_zero;
            squares += x * x;
        }
        const cg_root root = cg_inverse_root(squares);
        for (int32_t i = 0; i < params->depth; i++) {
            const int32_t x = input[i] - params->in_zero;
            output[i] = cg_store_s8(x, root.multiplier, root.shift + 7, 0, -128, 127);
        }
        input += params->depth;
        output += params->depth;
    }
}
