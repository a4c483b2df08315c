/* SPDX-License-Identifier: Apache-2.0 */
/*
 * l2_normalization_f32.c -- L2_NORMALIZATION over the last axis, float32.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"
#include "cg_sqrt_f32.h"

void cg_l2_normalization_f32(const cg_rows_params *params, const cg_f32 *input, cg_f32 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        float squares = 0.0f;
        for (int32_t i = 0; i < params->depth; i++) {
            squares += input[i] * input[i];
        }
        const float root = cg_sqrt_one_f32(squares);
        const float norm = (root < 1e-6f) ? 1e-6f : root;
        for (int32_t i = 0; i < params->depth; i++) {
            output[i] = input[i] / norm;
        }
        input += params->depth;
        output += params->depth;
    }
}
