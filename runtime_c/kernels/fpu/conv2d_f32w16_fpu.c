/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_f32w16_fpu.c -- conv2d_f32_fpu.c by weights that lie as float16.
 */
#include "cg_needs_fpu.h"

#define CG_OF_HALVES
#include "cg_conv2d_fpu_parts.h"

void cg_conv2d_f32w16_fpu_row(const cg_conv_params_fpu *params, const uint16_t *stream,
                              const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                              int32_t x_stop)
{
    compute_row(params, stream, input, output, y, x_start, x_stop);
}

void cg_conv2d_f32w16_fpu(const cg_conv_params_fpu *params, const uint16_t *stream,
                          const cg_f32 *input, cg_f32 *output)
{
    convolved(params, stream, input, output);
}
