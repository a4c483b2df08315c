@ SPDX-License-Identifier: Apache-2.0
@ tile1_single_s8_dsp.S -- the only output channel of one pixel that is read as it is, int8, DSP
@ extension: cg_tile1_single_s8_dsp.
@
@ 28 instructions for 16 multiply-accumulates (1.75 each), LDM for weights and for values; up to three
@ groups of four in front of the loop take 10 each. The pixel is aligned to 4 bytes.
@
@ r0 pixel, r1 stream, r2 sum, r3 r12 four values, r4-r7 weights, r8-r11 pixel, lr end of the pixel.
#include "cg_needs_dsp.h"
#include "cg_tile_dsp.inc"

    .set FS_TILE, 0
    .set FS_SUM, 4
    .set FS_OUT_ZERO, 8
    .set FS_OUTPUT, 12
    .set FS_BYTES, 20

    @ Four values by four weights, to the sum r2. Changes both words, r3 and r12.
    .macro four_values values, weights
    sxtb16  r3, \values
    sxtb16  r12, \weights
    sxtb16  \values, \values, ror #8
    sxtb16  \weights, \weights, ror #8
    smlad   r2, r3, r12, r2
    smlad   r2, \values, \weights, r2
    .endm

    frame   cg_frame_cg_tile1_single_s8_dsp, FS_BYTES
    function cg_tile1_single_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #FS_BYTES
    str     r0, [sp, #FS_TILE]
    mov     r3, r1
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    strd    r7, r3, [sp, #FS_OUT_ZERO]      @ and FS_OUTPUT
    add     lr, r0, r6, lsl #2
    ldr     r2, [r1], #4
    ands    r6, r6, #3
    beq     .Lcheck
.Lgroup:
    ldr     r4, [r1], #4
    ldr     r8, [r0], #4
    four_values r8, r4
    subs    r6, r6, #1
    bne     .Lgroup
    b       .Lcheck
.Lloop:
    ldm.w   r1!, {r4-r7}
    ldm.w   r0!, {r8-r11}
    four_values r8, r4
    four_values r9, r5
    four_values r10, r6
    four_values r11, r7
.Lcheck:
    cmp     r0, lr
    bne     .Lloop
    ldm     r1, {r4, r6}
    ldrd    r8, r9, [sp, #FS_OUT_ZERO]      @ and FS_OUTPUT
    lsrs    r7, r6, #8
    bcs     .Lany
    requantize r2, r4, r6, r8
    strb    r2, [r9]
    add     sp, sp, #FS_BYTES
    pop     {r4-r11, pc}
.Lany:
    str     r2, [sp, #FS_SUM]
    requantize_any FS_TILE, FS_SUM, r4, r6, 1
    ldr     r2, [sp, #FS_SUM]
    strb    r2, [r9]
    add     sp, sp, #FS_BYTES
    pop     {r4-r11, pc}
    .size   cg_tile1_single_s8_dsp, . - cg_tile1_single_s8_dsp
