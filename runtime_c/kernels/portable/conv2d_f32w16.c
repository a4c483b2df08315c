/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_f32w16.c -- conv2d_f32.c by weights that lie as float16.
 */
#include "cg_half.h"

#define CG_OF_HALVES
#include "cg_conv2d_f32_parts.h"

CG_DEFINE_ROWS(cg_conv2d_f32w16, cg_conv2d_f32w16_row, conv_pixel, cg_f32, cg_all_rows_f32,
               CG_LIST(const cg_conv_params_f32 *params, const cg_conv_weights_f32w16 *weights),
               CG_LIST(params, weights))
