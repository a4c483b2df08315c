/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve_s16.c -- LOGISTIC and TANH on int16 by a table of sigmoids.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"
#include "cg_sigmoid_s16.h"

void cg_curve_s16(const cg_curve_params *params, const uint16_t *sigmoids, const cg_s16 *input,
                  cg_s16 *output)
{
    const int32_t round = (params->shift > 0) ? (1 << (params->shift - 1)) : 0;
    for (int32_t i = 0; i < params->count; i++) {
        const int32_t scaled = ((input[i] * params->multiplier) + round) >> params->shift;
        output[i] = (int16_t)((params->kind == 0) ? cg_sigmoid_s16(sigmoids, scaled)
                                                  : cg_tanh_s16(sigmoids, scaled));
    }
}
