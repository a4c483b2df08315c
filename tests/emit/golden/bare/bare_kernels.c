/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_kernels.c -- generated; do not edit. The kernels that bare calls, and what they need.
 */
#include "bare_kernels.h"

/*
 * cg_kernel_parts -- what several portable kernels share. Included by kernels only.
 */

/* ---- multiply-accumulate -------------------------------------------------------------- */

/* NaN stays NaN. */
static inline float cg_clamp_one_f32(float x, float low, float high)
{
    const float raised = (x < low) ? low : x;
    return (raised > high) ? high : raised;
}

/*
 * clamp_f32 -- RELU and RELU6, float32.
 */

void cg_clamp_f32(float low, float high, const cg_f32 *input, cg_f32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = cg_clamp_one_f32(input[i], low, high);
    }
}

/* ---- what the linker compares --------------------------------------------------------- */

/* Another folder in the image may define the same kernels: the linker takes one of each. */
#pragma weak cg_clamp_f32

CG_RUNTIME_VERSION(000102030405);
