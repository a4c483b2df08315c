/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise3x3_rows_s8_rv32.S -- rows of depthwise 3x3 convolutions, stride 1 or 2, RV32IM: any zero point. */
#include "cg_needs_rv32.h"
#include "cg_depthwise3x3_rv32.inc"

    depthwise_row cg_depthwise3x3_row1_rv32, any, 1
    depthwise_row cg_depthwise3x3_row2_rv32, any, 2
