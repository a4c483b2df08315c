/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_u8.c -- conv2d_s8.c by weights of uint8, which have a zero point.
 */
#define CG_OF_UINT8
#define CG_STORE_SUM cg_store_s8
#include "cg_conv2d_s8_parts.h"

CG_DEFINE_ROWS(cg_conv2d_u8, cg_conv2d_u8_row, conv_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_conv_params *params, const cg_conv_weights_u8 *weights),
               CG_LIST(params, weights))
