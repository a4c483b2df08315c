/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_f32_fpu.c -- 2-D convolution, float32, for cores with an FPU: one group; any stride,
 * dilation, padding. Contract: cg_kernels_fpu.h.
 */
#include "cg_needs_fpu.h"

#include "cg_conv2d_fpu_parts.h"

void cg_conv2d_f32_fpu_row(const cg_conv_params_fpu *params, const float *stream,
                           const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                           int32_t x_stop)
{
    compute_row(params, stream, input, output, y, x_start, x_stop);
}

void cg_conv2d_f32_fpu(const cg_conv_params_fpu *params, const float *stream, const cg_f32 *input,
                       cg_f32 *output)
{
    convolved(params, stream, input, output);
}
