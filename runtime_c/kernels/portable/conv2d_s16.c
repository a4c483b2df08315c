/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s16.c -- 2-D convolution, int16 image, int8 weights, portable: any stride, dilation,
 * padding, groups. The zero point is 0, so taps in the padding are left out.
 */
#include "cg_conv_s16.h"

#include "cg_conv2d_s16_parts.h"

CG_DEFINE_PARTS(cg_conv2d_s16, cg_conv2d_s16_part, conv_pixel,
                CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16 *weights),
                CG_LIST(params, weights))
