/* SPDX-License-Identifier: Apache-2.0 */
/* conv_tile_chunked_s8_rv32.S -- channels of six packed pixels, or of three, RV32IM: sums in chunks. */
#include "cg_needs_rv32.h"
#include "cg_conv_tile_rv32.inc"

    tile    cg_conv_tile6_chunked_s8_rv32, any, 1, 6
    tile    cg_conv_tile3_chunked_s8_rv32, any, 1, 3
