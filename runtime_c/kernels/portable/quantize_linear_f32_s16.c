/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_linear_f32_s16.c -- float32 to int16, rounded as ONNX does.
 */
#include "cg_kernels_qlinear_s16.h"
#include "cg_round_even.h"

void cg_quantize_linear_f32_s16(const cg_quantize_params *params, const cg_f32 *input,
                                cg_s16 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t stored = cg_round_even(input[i] / params->scale) + params->zero;
        output[i] = (int16_t)cg_clamp_s32(stored, -32768, 32767);
    }
}
