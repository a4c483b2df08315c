/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_s16.c -- depthwise convolution, int16 image, int8 weights, portable: any
 * multiplier, stride, dilation, padding.
 */
#include "cg_conv_s16.h"

#include "cg_depthwise_conv2d_s16_parts.h"

CG_DEFINE_PARTS(cg_depthwise_conv2d_s16, cg_depthwise_conv2d_s16_part, depthwise_pixel,
                CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16 *weights),
                CG_LIST(params, weights))
