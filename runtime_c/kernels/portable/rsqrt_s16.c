/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsqrt_s16.c -- RSQRT, int16.
 */
#include "cg_inverse_root.h"
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

/* A root between the two steps is in units of 2^-20. */
void cg_rsqrt_s16(const cg_requantize_params *params, const cg_s16 *input, cg_s16 *output)
{
    for (int32_t i = 0; i < params->count; i++) {
        const int32_t x = input[i];
        int32_t stored = 32767;
        if (x > 0) {
            const cg_root root = cg_inverse_root(x);
            const int32_t scaled = cg_requantize(1, root.multiplier, root.shift + 20);
            stored = cg_requantize(scaled, params->multiplier, params->shift);
            stored = cg_clamp_s32(stored, -32768, 32767);
        }
        output[i] = (int16_t)stored;
    }
}
