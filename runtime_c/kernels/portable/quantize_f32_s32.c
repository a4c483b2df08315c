/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_f32_s32.c -- float32 to int32.
 */
#include "cg_kernel_parts.h"

void cg_quantize_f32_s32(const cg_quantize_params *params, const cg_f32 *input, cg_s32 *output,
                         int32_t count)
{
    const float limit = 2147483648.0f;
    for (int32_t i = 0; i < count; i++) {
        const float scaled = input[i] / params->scale;
        int32_t stored = (scaled >= limit) ? CG_S32_MAX : CG_S32_MIN;
        if ((scaled > -limit) && (scaled < limit)) {
            const int32_t whole = (int32_t)scaled;
            const float rest = scaled - (float)whole;
            const int32_t up = (rest >= 0.5f) ? 1 : 0;
            const int32_t down = (rest <= -0.5f) ? 1 : 0;
            stored = whole + up - down;
        }
        output[i] = stored;
    }
}
