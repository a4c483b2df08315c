@ SPDX-License-Identifier: Apache-2.0
@ tile4_s4_dsp.S -- all output channels of four widened pixels, int4 weights, DSP extension.
@
@ Works as tile4_s8_dsp.S, 26 instructions for 32 multiply-accumulates: the AND that takes a low half
@ stands where int8 loads further weights. A pair of channels takes 74 instructions more, and 3 a
@ turn of the loop; the four sums of values take 12 for each group, once.
@
@ r0 pixels, r1 stream, r2-r5 sums of the first channel, r6-r9 of both, r10 r11 pixels, r12 lr
@ weights.
#include "cg_needs_dsp.h"
#include "cg_tile_s4_dsp.inc"
#include "cg_tile4_dsp.inc"

    @ Frame. The first four words are the addresses that the next results go to.
    .set F4_PIXELS, 16
    .set F4_PAIRS_END, 20
    .set F4_OUT_ZERO, 24
    .set F4_ENTRY, 28
    .set F4_PIXELS_END, 32
    .set F4_TILE, 36
    .set F4_LESS, 40
    .set F4_SUMS, 56
    .set F4_BYTES, 92

    @ Two values of each pixel by the weights in r12 and their low halves in lr. Changes r10, r11.
    .macro products_of_four
    ldrd    r10, r11, [r0], #8
    smlad   r2, r10, lr, r2
    smlad   r6, r10, r12, r6
    smlad   r3, r11, lr, r3
    smlad   r7, r11, r12, r7
    ldrd    r10, r11, [r0], #8
    smlad   r4, r10, lr, r4
    smlad   r8, r10, r12, r8
    smlad   r5, r11, lr, r5
    smlad   r9, r11, r12, r9
    .endm

    @ Four values of each pixel. r0 and r1 move on. Changes r10, r11, r12, lr.
    .macro group_of_four
    ldr     r12, [r1]
    sxtb16  r12, r12
    low_halves lr, r12
    products_of_four
    ldr     r12, [r1], #4
    sxtb16  r12, r12, ror #8
    low_halves lr, r12
    products_of_four
    .endm

    frame cg_frame_cg_tile4_s4_dsp, F4_BYTES
    function cg_tile4_s4_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F4_BYTES
    str     r0, [sp, #F4_TILE]
    keep_outputs
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    add     r8, r0, r6, lsl #5
    subs    r6, r6, #1                      @ the first group stands in front of the loop
    and     r6, r6, #UNROLL - 1
    loop_entry r9, .Lcheck4, (.Lcheck4 - .Lloop4) / UNROLL
    add     r4, sp, #F4_PIXELS
    stm     r4, {r0, r5, r7, r9}
    str     r8, [sp, #F4_PIXELS_END]
    movs    r2, #0
    movs    r3, #0
    mov     r12, #0
    mov     lr, #0
    less_eight r9
.Lvalues4:
    .rept   2
    ldm     r0!, {r4-r7}
    smlad   r2, r4, r9, r2
    smlad   r3, r5, r9, r3
    smlad   r12, r6, r9, r12
    smlad   lr, r7, r9, lr
    .endr
    cmp     r0, r8
    bne     .Lvalues4
    strd    r2, r3, [sp, #F4_LESS]
    strd    r12, lr, [sp, #F4_LESS + 8]
    ldr     r0, [sp, #F4_PIXELS]
.Lpair4:
    ldr     r10, [r1], #4
    add     r11, sp, #F4_LESS
    ldm     r11, {r2-r5}
    adds    r2, r2, r10
    adds    r3, r3, r10
    adds    r4, r4, r10
    adds    r5, r5, r10
    ldr     r12, [r1]                       @ the first group begins the sums of both
    sxtb16  r12, r12
    low_halves lr, r12
    ldrd    r10, r11, [r0], #8
    smlad   r6, r10, r12, r2
    smlad   r2, r10, lr, r2
    smlad   r7, r11, r12, r3
    smlad   r3, r11, lr, r3
    ldrd    r10, r11, [r0], #8
    smlad   r8, r10, r12, r4
    smlad   r4, r10, lr, r4
    smlad   r9, r11, r12, r5
    smlad   r5, r11, lr, r5
    ldr     r12, [r1], #4
    sxtb16  r12, r12, ror #8
    low_halves lr, r12
    products_of_four
    ldr     pc, [sp, #F4_ENTRY]
.Lloop4:
    .rept   UNROLL
    group_of_four
    .endr
.Lcheck4:
    ldr     r12, [sp, #F4_PIXELS_END]
    cmp     r0, r12
    bne.w   .Lloop4
    subs    r6, r6, r2
    subs    r7, r7, r3
    sub     r8, r8, r4
    sub     r9, r9, r5
    ldm     r1!, {r0, r10, r11, r12}        @ bias of b, multipliers, shifts
    add     r6, r0, r6, asr #4
    add     r7, r0, r7, asr #4
    add     r8, r0, r8, asr #4
    add     r9, r0, r9, asr #4
    further_shifts lr, r12
    bcs     .Lany4
    ldr     r0, [sp, #F4_OUT_ZERO]
    requantize_channels r0, r10, r12, "r2, r3, r4, r5", r11, lr, "r6, r7, r8, r9"
.Lstore4:
    ldm     sp, {r0, r10, r11, r12}
    strb    r2, [r0], #1
    strb    r3, [r10], #1
    strb    r4, [r11], #1
    strb    r5, [r12], #1
    ldrd    r2, r3, [sp, #F4_PIXELS]        @ and F4_PAIRS_END
    cmp     r1, r3
    beq     .Llast4
    strb    r6, [r0], #1
    strb    r7, [r10], #1
    strb    r8, [r11], #1
    strb    r9, [r12], #1
    stm     sp, {r0, r10, r11, r12}
    mov     r0, r2
    b       .Lpair4
.Llast4:
    ldr     r2, [sp, #F4_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    bne     .Ldone4
    strb    r6, [r0]
    strb    r7, [r10]
    strb    r8, [r11]
    strb    r9, [r12]
.Ldone4:
    add     sp, sp, #F4_BYTES
    pop     {r4-r11, pc}

.Lany4:
    add     r0, sp, #F4_SUMS
    stm     r0, {r2-r9}
    mov     r4, r1
    mov     r5, lr
    requantize_any F4_TILE, F4_SUMS, r10, r12, 4
    requantize_any F4_TILE, F4_SUMS + 16, r11, r5, 4
    mov     r1, r4
    add     r0, sp, #F4_SUMS
    ldm     r0, {r2-r9}
    b       .Lstore4
    .size   cg_tile4_s4_dsp, . - cg_tile4_s4_dsp
