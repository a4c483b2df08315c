@ SPDX-License-Identifier: Apache-2.0
@ tile1_s4_dsp.S -- all output channels of one widened pixel, int4 weights, DSP extension.
@
@ Works as cg_tile1_dsp.inc, 18 instructions for 16 multiply-accumulates: two of AND stand where int8 loads
@ as many further weights.
@
@ r0 pixel, r1 stream, r2 sum of the first channel, r3 of both, r4 r5 r12 weights, r8-r11 pixel, lr
@ end of the pixel.
#include "cg_needs_dsp.h"
#include "cg_tile_s4_dsp.inc"

    @ Frame. The first four words are loaded together.
    .set F1_PIXELS, 0
    .set F1_OUT_ZERO, 4
    .set F1_OUTPUT, 8
    .set F1_PAIRS_END, 12
    .set F1_ENTRY, 16
    .set F1_LOOP_ENTRY, 20
    .set F1_TILE, 24
    .set F1_LESS, 28
    .set F1_SUMS, 32
    .set F1_PIXELS_END, 40
    .set F1_BYTES, 44

    @ Four values, of which \even holds the first and the third, by a word of weights. Changes r12 and
    @ the weights.
    .macro group_of_one weights, even, odd
    sxtb16  r12, \weights
    sxtb16  \weights, \weights, ror #8
    smlad   r3, \even, r12, r3
    smlad   r3, \odd, \weights, r3
    low_halves r12, r12
    low_halves \weights, \weights
    smlad   r2, \even, r12, r2
    smlad   r2, \odd, \weights, r2
    .endm

    frame cg_frame_cg_tile1_s4_dsp, F1_BYTES
    function cg_tile1_s4_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F1_BYTES
    str     r0, [sp, #F1_TILE]
    mov     r2, r1
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    strd    r0, r7, [sp, #F1_PIXELS]
    strd    r2, r5, [sp, #F1_OUTPUT]
    add     lr, r0, r6, lsl #3
    str     lr, [sp, #F1_PIXELS_END]
    mov     r7, r6
    ubfx    r6, r6, #1, #2                  @ pairs of groups in the first turn
    loop_entry r9, .Lcheck1, (.Lcheck1 - .Lloop1) / UNROLL
    mov     r8, r9
    lsls    r7, r7, #31                     @ an odd number of groups: one in front of the loop
    it      ne
    adrne.w r8, .Lgroup1
    it      ne
    addne   r8, r8, #1
    strd    r8, r9, [sp, #F1_ENTRY]
    movs    r2, #0
    less_eight r9
.Lvalues1:
    ldrd    r4, r5, [r0], #8
    smlad   r2, r4, r9, r2
    smlad   r2, r5, r9, r2
    cmp     r0, lr
    bne     .Lvalues1
    str     r2, [sp, #F1_LESS]
    ldr     r0, [sp, #F1_PIXELS]
.Lpair1:
    ldr     r2, [sp, #F1_LESS]
    ldr     r3, [r1], #4
    adds    r2, r2, r3
    mov     r3, r2
    ldr     pc, [sp, #F1_ENTRY]
.Lgroup1:
    ldr     r4, [r1], #4
    ldrd    r8, r9, [r0], #8
    group_of_one r4, r8, r9
    ldr     pc, [sp, #F1_LOOP_ENTRY]
.Lloop1:
    .rept   UNROLL
    ldrd    r4, r5, [r1], #8
    ldm     r0!, {r8-r11}
    group_of_one r4, r8, r9
    group_of_one r5, r10, r11
    .endr
.Lcheck1:
    cmp     r0, lr
    bne.w   .Lloop1
    subs    r3, r3, r2
    ldm     r1!, {r4-r7}                    @ bias of b, multipliers, shifts
    add     r3, r4, r3, asr #4
    ldm     sp, {r0, r8, r9, r10}           @ pixels, out_zero, output, pairs_end
    lsrs    r4, r7, #8                      @ carry: bit 7
    bcs     .Lany1
    requantize r2, r5, r7, r8
    requantize r3, r6, r4, r8
.Lstore1:
    strb    r2, [r9], #1
    cmp     r1, r10
    beq     .Llast1
    strb    r3, [r9], #1
    str     r9, [sp, #F1_OUTPUT]
    b       .Lpair1
.Llast1:
    ldr     r2, [sp, #F1_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    bne     .Ldone1
    strb    r3, [r9]
.Ldone1:
    add     sp, sp, #F1_BYTES
    pop     {r4-r11, pc}

.Lany1:
    strd    r2, r3, [sp, #F1_SUMS]
    mov     r8, r0
    mov     r11, r1
    requantize_any F1_TILE, F1_SUMS, r5, r7, 1
    requantize_any F1_TILE, F1_SUMS + 4, r6, r4, 1
    mov     r0, r8
    mov     r1, r11
    ldrd    r2, r3, [sp, #F1_SUMS]
    ldr     lr, [sp, #F1_PIXELS_END]
    b       .Lstore1
    .size   cg_tile1_s4_dsp, . - cg_tile1_s4_dsp
