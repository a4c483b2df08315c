/* SPDX-License-Identifier: Apache-2.0 */
/* conv3x3_tile_least_s8_rv32.S -- channels of six pixels side by side, or of three, RV32IM: results from the zero point on. */
#include "cg_needs_rv32.h"
#include "cg_conv3x3_rv32.inc"

    tile3x3 cg_conv3x3_tile6_least_s8_rv32, least, 0, 6
    tile3x3 cg_conv3x3_tile3_least_s8_rv32, least, 0, 3
