/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s8.c -- 2-D convolution, int8, portable: any stride, dilation, padding, groups.
 *
 * The input's zero point is folded into the bias, so the inner loop multiplies stored values as
 * they are; a tap in the padding then counts as the zero point instead of as nothing.
 */
#define CG_STORE_SUM cg_store_s8
#include "cg_conv2d_s8_parts.h"

CG_DEFINE_ROWS(cg_conv2d_s8, cg_conv2d_s8_row, conv_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_conv_params *params, const cg_conv_weights *weights),
               CG_LIST(params, weights))
