/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_depthwise_conv2d_s8.c -- depthwise_conv2d_s8.c with sums that are rounded as ONNX does.
 */
#include "cg_kernels_qlinear.h"
#include "cg_round_even.h"

#define CG_STORE_SUM cg_store_even_s8
#include "cg_depthwise_conv2d_s8_parts.h"

CG_DEFINE_ROWS(cg_qlinear_depthwise_conv2d_s8, cg_qlinear_depthwise_conv2d_s8_row, depthwise_pixel,
               int8_t, cg_all_rows,
               CG_LIST(const cg_conv_params *params, const cg_conv_weights *weights),
               CG_LIST(params, weights))
