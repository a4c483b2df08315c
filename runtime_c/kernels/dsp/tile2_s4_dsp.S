@ SPDX-License-Identifier: Apache-2.0
@ tile2_s4_dsp.S -- all output channels of two widened pixels, int4 weights, DSP extension.
@
@ Works as tile2_s8_dsp.S, 14 instructions for 16 multiply-accumulates.
@
@ r0 pixels, r1 stream, r2 r3 sums of the first channel, r4 r5 of both, r6 r7 r12 weights, r8-r11
@ pixels, lr end of the pixels.
#include "cg_needs_dsp.h"
#include "cg_tile_s4_dsp.inc"

    @ Frame. The first four words are loaded together.
    .set F2_PIXELS, 0
    .set F2_OUT_ZERO, 4
    .set F2_OUTPUTS, 8
    .set F2_PAIRS_END, 16
    .set F2_ENTRY, 20
    .set F2_TILE, 24
    .set F2_LESS, 32
    .set F2_SUMS, 40
    .set F2_PIXELS_END, 56
    .set F2_BYTES, 60

    @ Four values of each pixel. r0 and r1 move on. Changes r6-r12.
    .macro group_of_two
    ldr     r7, [r1], #4
    ldm     r0!, {r8-r11}
    sxtb16  r12, r7
    low_halves r6, r12
    smlad   r2, r8, r6, r2
    smlad   r3, r9, r6, r3
    smlad   r4, r8, r12, r4
    smlad   r5, r9, r12, r5
    sxtb16  r12, r7, ror #8
    low_halves r6, r12
    smlad   r2, r10, r6, r2
    smlad   r3, r11, r6, r3
    smlad   r4, r10, r12, r4
    smlad   r5, r11, r12, r5
    .endm

    frame cg_frame_cg_tile2_s4_dsp, F2_BYTES
    function cg_tile2_s4_dsp
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
    loop_entry r9, .Lcheck2, (.Lcheck2 - .Lloop2) / UNROLL
    strd    r5, r9, [sp, #F2_PAIRS_END]
    movs    r2, #0
    movs    r3, #0
    less_eight r9
.Lvalues2:
    ldm     r0!, {r4-r7}
    smlad   r2, r4, r9, r2
    smlad   r3, r5, r9, r3
    smlad   r2, r6, r9, r2
    smlad   r3, r7, r9, r3
    cmp     r0, lr
    bne     .Lvalues2
    strd    r2, r3, [sp, #F2_LESS]
    ldr     r0, [sp, #F2_PIXELS]
.Lpair2:
    ldr     r4, [r1], #4
    ldrd    r2, r3, [sp, #F2_LESS]
    adds    r2, r2, r4
    adds    r3, r3, r4
    mov     r4, r2
    mov     r5, r3
    ldr     pc, [sp, #F2_ENTRY]
.Lloop2:
    .rept   UNROLL
    group_of_two
    .endr
.Lcheck2:
    cmp     r0, lr
    bne.w   .Lloop2
    subs    r4, r4, r2
    subs    r5, r5, r3
    ldm     r1!, {r6, r7, r8, r10}          @ bias of b, multipliers, shifts
    add     r4, r6, r4, asr #4
    add     r5, r6, r5, asr #4
    further_shifts r9, r10
    bcs     .Lany2
    ldr     r6, [sp, #F2_OUT_ZERO]
    requantize_channels r6, r7, r10, "r2, r3", r8, r9, "r4, r5"
.Lstore2:
    ldm     sp, {r0, r10, r11, r12}         @ pixels, out_zero, outputs
    strb    r2, [r11], #1
    strb    r3, [r12], #1
    ldr     r6, [sp, #F2_PAIRS_END]
    cmp     r1, r6
    beq     .Llast2
    strb    r4, [r11], #1
    strb    r5, [r12], #1
    strd    r11, r12, [sp, #F2_OUTPUTS]
    b       .Lpair2
.Llast2:
    ldr     r2, [sp, #F2_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    bne     .Ldone2
    strb    r4, [r11]
    strb    r5, [r12]
.Ldone2:
    add     sp, sp, #F2_BYTES
    pop     {r4-r11, pc}

.Lany2:
    add     r0, sp, #F2_SUMS
    stm     r0, {r2-r5}
    mov     r4, r1
    requantize_any F2_TILE, F2_SUMS, r7, r10, 2
    requantize_any F2_TILE, F2_SUMS + 8, r8, r9, 2
    mov     r1, r4
    add     r0, sp, #F2_SUMS
    ldm     r0, {r2-r5}
    ldr     lr, [sp, #F2_PIXELS_END]
    b       .Lstore2
    .size   cg_tile2_s4_dsp, . - cg_tile2_s4_dsp
