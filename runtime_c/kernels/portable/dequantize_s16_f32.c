/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dequantize_s16_f32.c -- int16 to float32.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

void cg_dequantize_s16_f32(const cg_quantize_params *params, const cg_s16 *input, cg_f32 *output,
                           int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = params->scale * (float)(input[i] - params->zero);
    }
}
