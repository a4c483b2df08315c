/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_depthwise_conv2d_s16.c -- depthwise_conv2d_s16.c by int8 weights, with sums that are
 * rounded as ONNX does.
 */
#include "cg_qlinear_s16.h"

#include "cg_depthwise_conv2d_s16_parts.h"

CG_DEFINE_PARTS(cg_qlinear_depthwise_conv2d_s16, cg_qlinear_depthwise_conv2d_s16_part,
                depthwise_pixel,
                CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16 *weights),
                CG_LIST(params, weights))
