/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d_least_s8_rv32.c -- 2-D convolution, int8, RV32IM: results from the zero point on. */
#include "cg_needs_rv32.h"

#define CG_CONV2D     cg_conv2d_least_s8_rv32
#define CG_CONV2D_ROW cg_conv2d_least_s8_rv32_row
#define CG_TILE6      cg_conv_tile6_least_s8_rv32
#define CG_TILE3      cg_conv_tile3_least_s8_rv32
#include "cg_conv2d_rv32_parts.h"
