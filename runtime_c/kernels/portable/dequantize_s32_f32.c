/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dequantize_s32_f32.c -- int32 to float32.
 */
#include "cg_kernel_parts.h"

/* In double, as TFLite: a float has no room for all of an int32. */
void cg_dequantize_s32_f32(const cg_quantize_params *params, const cg_s32 *input, cg_f32 *output,
                           int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (float)((double)params->scale * (double)input[i]);
    }
}
