/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_s8.c -- depthwise convolution, int8, portable: any multiplier, stride,
 * dilation, padding.
 */
#define CG_STORE_SUM cg_store_s8
#include "cg_depthwise_conv2d_s8_parts.h"

CG_DEFINE_ROWS(cg_depthwise_conv2d_s8, cg_depthwise_conv2d_s8_row, depthwise_pixel, int8_t,
               cg_all_rows, CG_LIST(const cg_conv_params *params, const cg_conv_weights *weights),
               CG_LIST(params, weights))
