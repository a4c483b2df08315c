@ SPDX-License-Identifier: Apache-2.0
@ tile_s16_dsp.S -- all output channels of four pixels or of one, int16 image, int8 weights, DSP
@ extension.
@
@ Assembly, because the inner loop of four pixels by two channels needs all fourteen registers:
@ eight sums, two words of pixels, two of weights, two addresses. 13 instructions for 16
@ multiply-accumulates (0.81 each), 3 for each turn of eight values; gcc 12 spills sums. One pixel:
@ 20 for 32 values of weights (1.25 a multiply-accumulate).
@
@ Contract, stream and layout of pixels: cg_conv_s16_dsp.h. No access but to the stream, the pixels,
@ the description of the tile, the results (by halfwords) and the stack.
@
@ Requantizing is exact for sums of 32 bits: SMMUL with m * 2^16 is floor(sum * m / 2^16); shifted
@ right by s - 16 with the last bit shifted out added (ADC) it is (sum * m + 2^(s-1)) >> s.
#include "cg_asm.inc"
#include "cg_tile4_dsp.inc"

    @ Each changes its sum and the flags alone.
    .macro requantize sum, multiplier, shift
    smmul   \sum, \sum, \multiplier
    asrs    \sum, \sum, \shift
    adc     \sum, \sum, #0
    .endm

    @ Several sums of one channel.
    .macro requantize_all multiplier, shift, sums:vararg
    .irp    sum, \sums
    requantize \sum, \multiplier, \shift
    .endr
    .endm

    @ To int16.
    .macro saturate_all sums:vararg
    .irp    sum, \sums
    ssat    \sum, #16, \sum
    .endr
    .endm

    @ To the range of the activation.
    .macro clamp_all low, high, sums:vararg
    .irp    sum, \sums
    cmp     \sum, \low
    it      lt
    movlt   \sum, \low
    cmp     \sum, \high
    it      gt
    movgt   \sum, \high
    .endr
    .endm

    @ Frame of both: addresses of the next results, then these.
    .set PIXELS, 16
    .set TURNS_END, 20
    .set END, 24
    .set PAIRS, 28
    .set IS_ODD, 32
    .set ACT_MIN, 36
    .set IS_CLAMPED, 44
    .set FRAME, 52

    @ The frame from the tile in r0: leaves pixels in r0, stream in r1. A word of a pixel is followed
    @ by the next one 1 << \log bytes on.
    .macro enter log
    mov     r12, r0
    ldm     r12, {r0, r1, r4, r5, r6, r7, r8, r9}
    bic     r10, r5, #3
    add     r10, r0, r10, lsl #\log
    add     r11, r0, r5, lsl #\log
    add     r12, sp, #PIXELS
    stm     r12, {r0, r10, r11}
    add     r12, sp, #PAIRS
    stm     r12, {r4, r6, r7, r8, r9}
    .endm

@ ---- four pixels --------------------------------------------------------------------------
@ Registers: cg_tile4_dsp.inc.

    frame cg_frame_cg_tile4_s16_dsp, FRAME
    function cg_tile4_s16_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    keep_outputs
    enter   4
.Lpair4:
    ldrd    r2, r6, [r1], #8
    mov     r3, r2
    mov     r4, r2
    mov     r5, r2
    mov     r7, r6
    mov     r8, r6
    mov     r9, r6
    ldr     r10, [sp, #TURNS_END]
    cmp     r0, r10
    beq.w   .Lrest4
.Lturn4:
    .rept 4
    two_values_of_four
    .endr
    ldr     r10, [sp, #TURNS_END]
    cmp     r0, r10
    bne.w   .Lturn4
.Lrest4:
    ldr     r10, [sp, #END]
    cmp     r0, r10
    beq     .Lfinish4
.Lword4:
    two_values_of_four
    ldr     r10, [sp, #END]
    cmp     r0, r10
    bne     .Lword4
.Lfinish4:
    ldrd    r10, r11, [r1], #8
    ldr     r12, [r1], #4
    requantize_all r10, r12, r2, r3, r4, r5
    lsr     r12, r12, #8
    requantize_all r11, r12, r6, r7, r8, r9
    ldr     r10, [sp, #IS_CLAMPED]
    cmp     r10, #0
    bne     .Lclamp4
    saturate_all r2, r3, r4, r5, r6, r7, r8, r9
.Lstore4:
    ldm     sp, {r10, r11, r12, lr}
    strh    r2, [r10], #2
    strh    r3, [r11], #2
    strh    r4, [r12], #2
    strh    r5, [lr], #2
    ldr     r0, [sp, #PAIRS]
    subs    r0, r0, #1
    beq     .Llast4
    str     r0, [sp, #PAIRS]
    strh    r6, [r10], #2
    strh    r7, [r11], #2
    strh    r8, [r12], #2
    strh    r9, [lr], #2
    stm     sp, {r10, r11, r12, lr}
    ldr     r0, [sp, #PIXELS]
    b.w     .Lpair4
.Llast4:
    ldr     r0, [sp, #IS_ODD]
    cbnz    r0, .Ldone4
    strh    r6, [r10]
    strh    r7, [r11]
    strh    r8, [r12]
    strh    r9, [lr]
.Ldone4:
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
.Lclamp4:
    ldrd    r10, r11, [sp, #ACT_MIN]
    clamp_all r10, r11, r2, r3, r4, r5, r6, r7, r8, r9
    b       .Lstore4

@ ---- one pixel ----------------------------------------------------------------------------
@ r0 pixel, r1 stream, r2 r3 sums of two channels, r4 end of the loop, r5 weights, r6-r9 pixel,
@ r10-r12 lr weights.

    @ A word of the pixel by two channels' weights, to the sums r2 and r3. Changes r5 and the weights.
    .macro two_values_of_one pixel, weights
    sxtb16  r5, \weights
    sxtb16  \weights, \weights, ror #8
    smlad   r2, \pixel, r5, r2
    smlad   r3, \pixel, \weights, r3
    .endm

    frame cg_frame_cg_tile1_s16_dsp, FRAME
    function cg_tile1_s16_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r1, [sp]
    enter   2
.Lpair1:
    ldrd    r2, r3, [r1], #8
    ldr     r4, [sp, #TURNS_END]
    cmp     r0, r4
    beq     .Lrest1
.Lturn1:
    ldm     r0!, {r6-r9}
    ldm     r1!, {r10-r12, lr}
    two_values_of_one r6, r10
    two_values_of_one r7, r11
    two_values_of_one r8, r12
    two_values_of_one r9, lr
    cmp     r0, r4
    bne     .Lturn1
.Lrest1:
    ldr     r4, [sp, #END]
    cmp     r0, r4
    beq     .Lfinish1
.Lword1:
    ldr     r6, [r0], #4
    ldr     r10, [r1], #4
    two_values_of_one r6, r10
    cmp     r0, r4
    bne     .Lword1
.Lfinish1:
    ldrd    r10, r11, [r1], #8
    ldr     r12, [r1], #4
    requantize r2, r10, r12
    lsr     r12, r12, #8
    requantize r3, r11, r12
    ldr     r5, [sp, #IS_CLAMPED]
    cbnz    r5, .Lclamp1
    saturate_all r2, r3
.Lstore1:
    ldr     r10, [sp]
    strh    r2, [r10], #2
    ldr     r0, [sp, #PAIRS]
    subs    r0, r0, #1
    beq     .Llast1
    str     r0, [sp, #PAIRS]
    strh    r3, [r10], #2
    str     r10, [sp]
    ldr     r0, [sp, #PIXELS]
    b       .Lpair1
.Llast1:
    ldr     r0, [sp, #IS_ODD]
    cbnz    r0, .Ldone1
    strh    r3, [r10]
.Ldone1:
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
.Lclamp1:
    ldrd    r10, r11, [sp, #ACT_MIN]
    clamp_all r10, r11, r2, r3
    b       .Lstore1
