/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_softmax_f32.c -- LOG_SOFTMAX over the last axis, float32.
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"
#include "cg_log_f32.h"

static void log_softmax_row(const cg_f32 *input, cg_f32 *output, int32_t depth)
{
    float largest = input[0];
    for (int32_t i = 1; i < depth; i++) {
        largest = (input[i] > largest) ? input[i] : largest;
    }
    float sum = 0.0f;
    for (int32_t i = 0; i < depth; i++) {
        sum += cg_exp_f32(input[i] - largest);
    }
    const float logarithm = cg_log_one_f32(sum);
    for (int32_t i = 0; i < depth; i++) {
        output[i] = (input[i] - largest) - logarithm;
    }
}

void cg_log_softmax_f32(const cg_rows_params *params, const cg_f32 *input, cg_f32 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        log_softmax_row(input, output, params->depth);
        input += params->depth;
        output += params->depth;
    }
}
