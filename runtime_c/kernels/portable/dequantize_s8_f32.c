/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dequantize_s8_f32.c -- int8 to float32.
 */
#include "cg_kernel_parts.h"

void cg_dequantize_s8_f32(const cg_quantize_params *params, const int8_t *input, cg_f32 *output,
                          int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = params->scale * (float)(input[i] - params->zero);
    }
}
