/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise3x3_least_s8_rv32.c -- depthwise 3x3 convolution, stride 1 or 2, int8, RV32IM: results
 * from the zero point on. */
#include "cg_needs_rv32.h"

#define CG_DEPTHWISE     cg_depthwise3x3_least_s8_rv32
#define CG_DEPTHWISE_ROW cg_depthwise3x3_least_s8_rv32_row
#define CG_ROW1          cg_depthwise3x3_least_row1_rv32
#define CG_PAIRS         cg_depthwise3x3_least_pairs_rv32
#define CG_ROW2          cg_depthwise3x3_least_row2_rv32
#include "cg_depthwise3x3_rv32_parts.h"
