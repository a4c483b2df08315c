/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_f32_s16.c -- float32 to int16.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

void cg_quantize_f32_s16(const cg_quantize_params *params, const cg_f32 *input, cg_s16 *output,
                         int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (int16_t)cg_quantize(input[i], params->scale, params->zero, -32768, 32767);
    }
}
