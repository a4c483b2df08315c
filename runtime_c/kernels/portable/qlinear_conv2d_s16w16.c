/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_conv2d_s16w16.c -- conv2d_s16.c by int16 weights, with sums that are rounded as ONNX
 * does.
 */
#define CG_INT16_WEIGHTS
#include "cg_qlinear_s16.h"

#include "cg_conv2d_s16_parts.h"

CG_DEFINE_PARTS(cg_qlinear_conv2d_s16w16, cg_qlinear_conv2d_s16w16_part, conv_pixel,
                CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16w16 *weights),
                CG_LIST(params, weights))
