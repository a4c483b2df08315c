@ SPDX-License-Identifier: Apache-2.0
@ tile2_s8_dsp.S -- all output channels of two widened pixels, int8, DSP extension.
@
@ Assembly for the same reason as tile4_s8_dsp.S: 14 instructions for 16 multiply-accumulates
@ (0.875 each). A pair of channels takes 36 instructions more, and 2 a turn of the loop.
@
@ r0 pixels, r1 stream, r2 r3 sums of the first channel, r4 r5 of the second, r6 r7 r12 weights,
@ r8-r11 pixels, lr end of the pixels.
#include "cg_tile_dsp.inc"

    @ Frame. The first four words are loaded together.
    .set F2_PIXELS, 0
    .set F2_OUT_ZERO, 4
    .set F2_OUTPUTS, 8
    .set F2_PAIRS_END, 16
    .set F2_ENTRY, 20
    .set F2_TILE, 24
    .set F2_SUMS, 28
    .set F2_PIXELS_END, 44
    .set F2_BYTES, 52

    @ Four values of each pixel by two channels' weights, to the sums. r0 and r1 move on. Changes
    @ r6-r12.
    .macro four_values_of_two
    ldm.w   r1!, {r6, r7}
    ldm     r0!, {r8-r11}
    sxtb16  r12, r6
    sxtb16  r6, r6, ror #8
    smlad   r2, r8, r12, r2
    smlad   r3, r9, r12, r3
    sxtb16  r12, r7
    smlad   r4, r8, r6, r4
    smlad   r5, r9, r6, r5
    sxtb16  r7, r7, ror #8
    smlad   r2, r10, r12, r2
    smlad   r3, r11, r12, r3
    smlad   r4, r10, r7, r4
    smlad   r5, r11, r7, r5
    .endm

    frame cg_frame_cg_tile2_s8_dsp, F2_BYTES
    function cg_tile2_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F2_BYTES
    str     r0, [sp, #F2_TILE]
    add     r2, r2, r1
    strd    r1, r2, [sp, #F2_OUTPUTS]
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    strd    r0, r7, [sp, #F2_PIXELS]
    add     lr, r0, r6, lsl #4
    str     lr, [sp, #F2_PIXELS_END]
    and     r6, r6, #UNROLL - 1
    adr.w   r9, .Lcheck2
    movs    r10, #(.Lcheck2 - .Lloop2) / UNROLL
    mls     r9, r6, r10, r9
    adds    r9, r9, #1
    strd    r5, r9, [sp, #F2_PAIRS_END]
    cmp     r1, r5
    beq.w   .Lodd2
.Lpair2:
    ldrd    r2, r4, [r1], #8
    mov     r3, r2
    mov     r5, r4
    ldr     pc, [sp, #F2_ENTRY]
.Lloop2:
    .rept   UNROLL
    four_values_of_two
    .endr
.Lcheck2:
    cmp     r0, lr
    bne.w   .Lloop2
    ldm     r1!, {r6, r7, r8}
    lsrs    r9, r8, #8
    bcs     .Lany2
    ldm     sp, {r0, r10, r11, r12}         @ pixels, out_zero, outputs
    requantize_all r6, r8, r10, r2, r3
    requantize_all r7, r9, r10, r4, r5
.Lstore2:
    strb    r2, [r11], #1
    strb    r4, [r11], #1
    strb    r3, [r12], #1
    strb    r5, [r12], #1
    strd    r11, r12, [sp, #F2_OUTPUTS]
    ldr     r12, [sp, #F2_PAIRS_END]
    cmp     r1, r12
    bne     .Lpair2
.Lodd2:
    ldr     r2, [sp, #F2_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    beq     .Ldone2
    ldr     r2, [r1], #4
    mov     r3, r2
.Lloop_odd2:
    ldr     r6, [r1], #4
    ldm     r0!, {r8-r11}
    sxtb16  r12, r6
    sxtb16  r6, r6, ror #8
    smlad   r2, r8, r12, r2
    smlad   r3, r9, r12, r3
    smlad   r2, r10, r6, r2
    smlad   r3, r11, r6, r3
    cmp     r0, lr
    bne     .Lloop_odd2
    ldm     r1!, {r6, r8}
    lsrs    r9, r8, #8
    bcs     .Lany_odd2
    add     r0, sp, #F2_OUT_ZERO
    ldm     r0, {r10, r11, r12}
    requantize_all r6, r8, r10, r2, r3
.Lstore_odd2:
    strb    r2, [r11]
    strb    r3, [r12]
.Ldone2:
    add     sp, sp, #F2_BYTES
    pop     {r4-r11, pc}

.Lany2:
    add     r0, sp, #F2_SUMS
    stm     r0, {r2-r5}
    mov     r4, r1
    requantize_any F2_TILE, F2_SUMS, r6, r8, 2
    requantize_any F2_TILE, F2_SUMS + 8, r7, r9, 2
    mov     r1, r4
    add     r0, sp, #F2_SUMS
    ldm     r0, {r2-r5}
    ldr     lr, [sp, #F2_PIXELS_END]
    ldm     sp, {r0, r10, r11, r12}
    b       .Lstore2
.Lany_odd2:
    strd    r2, r3, [sp, #F2_SUMS]
    requantize_any F2_TILE, F2_SUMS, r6, r8, 2
    ldrd    r2, r3, [sp, #F2_SUMS]
    ldrd    r11, r12, [sp, #F2_OUTPUTS]
    b       .Lstore_odd2
    .size   cg_tile2_s8_dsp, . - cg_tile2_s8_dsp

