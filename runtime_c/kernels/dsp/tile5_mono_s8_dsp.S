@ SPDX-License-Identifier: Apache-2.0
@ tile5_mono_s8_dsp.S -- all output channels of five pixels of a convolution of one input channel, stride
@ 2, windows of up to four columns, int8, DSP extension.
@
@ Assembly, because five sums, two words of weights, three of pixels and the addresses are all fourteen
@ registers: 15 instructions for the 20 products of a row of five windows, which have one word in two of
@ them in common. A channel takes 37 more, and 2 a turn of the loop over rows.
@ Contract: cg_conv_dsp_parts.h. No word or halfword access but to the stream, the widened rows, the
@ description of the tile and the stack.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    @ Frame: where the next results go, and how far behind it those of the other pixels.
    .set F_OUTPUT, 0
    .set F_PIXELS, 20
    .set F_STREAM_END, 24
    .set F_ENTRY, 28
    .set F_ZERO, 32                         @ 2 zero + 1
    .set F_BYTES, 36

    .set UNROLL, 4

    @ A row of the windows at r0 by the weights at r1, added to r2-r6; both move on. Sums begin with r6
    @ if `is_first`. Changes r7-r11.
    .macro row_of_five is_first=0
    ldr     r8, [r1], #4
    sxtb16  r7, r8
    sxtb16  r8, r8, ror #8
    ldm     r0!, {r9-r11}
    .if     \is_first
    smlad   r2, r9, r7, r6
    smlad   r3, r10, r7, r6
    smlad   r4, r11, r7, r6
    .else
    smlad   r2, r9, r7, r2
    smlad   r3, r10, r7, r3
    smlad   r4, r11, r7, r4
    .endif
    smlad   r2, r10, r8, r2
    smlad   r3, r11, r8, r3
    ldm     r0!, {r9-r11}
    smlad   r4, r9, r8, r4
    .if     \is_first
    smlad   r5, r9, r7, r6
    .else
    smlad   r5, r9, r7, r5
    .endif
    smlad   r5, r10, r8, r5
    smlad   r6, r10, r7, r6
    smlad   r6, r11, r8, r6
    .endm

/* void cg_tile5_mono_s8_dsp(const cg_mono_tile_dsp *tile, int8_t *output) */
    frame cg_frame_cg_tile5_mono_s8_dsp, F_BYTES
    function cg_tile5_mono_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    ldm     r0, {r2-r10}                    @ steps, pixels, stream_end, rows, zero, stream
    mov     r0, r6
    add     r12, r8, r8, lsl #1
    add     r12, r6, r12, lsl #3            @ behind the last row
    subs    r8, r8, #1                      @ the first row stands in front of the loop
    and     r8, r8, #UNROLL - 1
    adr.w   lr, .Lcheck
    movs    r11, #(.Lcheck - .Lloop) / UNROLL
    mls     r8, r8, r11, lr
    adds    r8, r8, #1                      @ as BX wants it
    stm     sp, {r1-r9}
    mov     r1, r10
.Lchannel:
    ldr     lr, [r1], #4                    @ the bias, above it the shift less one in the lowest byte
    asr     r6, lr, #8
    row_of_five 1
    ldr     pc, [sp, #F_ENTRY]
.Lloop:
    .rept   UNROLL
    row_of_five
    .endr
.Lcheck:
    cmp     r0, r12
    bne.w   .Lloop
    ldr     r7, [r1], #4
    ldr     r8, [sp, #F_ZERO]
    lsl     r8, r8, lr
    scale_away r7, r8, r9, r2, r3, r4, r5, r6
    divide  lr, r2, r3, r4, r5, r6
    ldm     sp, {r7-r11}
    strb    r6, [r7, r11]                   @ the first one last: missing ones lie in its place
    strb    r5, [r7, r10]
    strb    r4, [r7, r9]
    strb    r3, [r7, r8]
    strb    r2, [r7], #1
    str     r7, [sp, #F_OUTPUT]
    ldrd    r0, r7, [sp, #F_PIXELS]         @ and F_STREAM_END
    cmp     r1, r7
    bne.w   .Lchannel
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}
    .size   cg_tile5_mono_s8_dsp, . - cg_tile5_mono_s8_dsp
