/* SPDX-License-Identifier: Apache-2.0 */
/* conv3x3_s8_rv32.c -- 3x3 convolution, stride 1, int8, RV32IM, rows packed once. */
#include "cg_needs_rv32.h"

#define CG_CONV3X3     cg_conv3x3_s8_rv32
#define CG_CONV3X3_ROW cg_conv3x3_s8_rv32_row
#define CG_TILE6       cg_conv3x3_tile6_s8_rv32
#define CG_TILE3       cg_conv3x3_tile3_s8_rv32
#include "cg_conv3x3_rv32_parts.h"
