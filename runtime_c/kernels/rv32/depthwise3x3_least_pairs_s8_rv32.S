/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise3x3_least_pairs_s8_rv32.S -- two rows of depthwise 3x3 convolutions, stride 1, RV32IM: results from the zero point on. */
#include "cg_needs_rv32.h"
#include "cg_depthwise3x3_pairs_rv32.inc"

    depthwise_pairs cg_depthwise3x3_least_pairs_rv32, least
