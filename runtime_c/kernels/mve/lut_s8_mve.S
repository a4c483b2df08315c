@ SPDX-License-Identifier: Apache-2.0
/*
 * lut_s8_mve.S -- any function of one byte by a table of its 256 results, Helium (contract:
 * cg_pairs_mve.h): 4 instructions for 16 bytes, which are offsets of a gathering load.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* void cg_lut_s8_mve(const int8_t *table, const void *input, void *output, int32_t count) */
    function     cg_lut_s8_mve
    push         {r4, lr}
    dlstp.8      lr, r3
1:  vldrb.u8     q0, [r1], #16
    vldrb.u8     q1, [r0, q0]
    vstrb.8      q1, [r2], #16
    letp         lr, 1b
    pop          {r4, pc}
    .size cg_lut_s8_mve, . - cg_lut_s8_mve
