/* SPDX-License-Identifier: Apache-2.0 */
/* conv3x3_tile_s8_rv32.S -- channels of six pixels side by side, or of three, RV32IM: all channels. */
#include "cg_needs_rv32.h"
#include "cg_conv3x3_rv32.inc"

    tile3x3 cg_conv3x3_tile6_s8_rv32, 6
    tile3x3 cg_conv3x3_tile3_s8_rv32, 3
