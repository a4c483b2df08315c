/* SPDX-License-Identifier: Apache-2.0 */
/* conv_tile_s8_rv32.S -- channels of six packed pixels, or of three, RV32IM: any zero point. */
#include "cg_needs_rv32.h"
#include "cg_conv_tile_rv32.inc"

    tile    cg_conv_tile6_s8_rv32, any, 0, 6
    tile    cg_conv_tile3_s8_rv32, any, 0, 3
