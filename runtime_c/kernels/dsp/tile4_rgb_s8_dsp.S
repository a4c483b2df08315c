@ SPDX-License-Identifier: Apache-2.0
@ tile4_rgb_s8_dsp.S -- four pixels of a 3x3 convolution of stride 2 on three input channels, int8, DSP
@ extension: the rows of their windows widened, and all output channels.
@
@ Assembly, because four sums, a row of weights in five words, three words of pixels and the addresses
@ are all fourteen registers: 26 instructions for the 36 products of a row of four windows, a window
@ having two words in common with the next. A channel takes 26 more. Widening a row takes 34, of which
@ five words in seven come of two instructions or less.
@ Contract: cg_conv_dsp_parts.h. No word or halfword access but to the stream, the image by whole words,
@ the widened rows, the description of the tile and the stack.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    @ Frame: where the next results go, how far behind it those of the other pixels.
    .set F_OUTPUT, 0
    .set F_PIXELS, 16                       @ and behind it the end of the stream
    .set F_BYTES, 24

    @ The twelve bytes b0 to b11 in r10, r11, lr as {b2 b0} {b3 b1} {b4 b5} {b8 b6} {b9 b7} {b10 b11} to
    @ r1, which moves on: each six are two words of two rows apart and one of neighbours. Changes r4-r9.
    .macro widen_twelve
    sxtb16  r4, r10, ror #16
    sxtb16  r5, r10, ror #24
    pkhbt   r6, r11, r11, lsl #8
    sxtb16  r6, r6
    pkhbt   r8, lr, r11
    sxtb16  r7, r8
    sxtb16  r8, r8, ror #8
    pkhtb   r9, lr, lr, asr #8
    sxtb16  r9, r9, ror #8
    stm     r1!, {r4-r9}
    .endm

/* void cg_widen_rgb_s8_dsp(const int8_t *const *rows, int32_t *pixels, int32_t padding, int32_t behind) */
    function cg_widen_rgb_s8_dsp
    push    {r4-r11, lr}
    ldr     r12, [r0], #4
.Lrow:
    ldm     r12!, {r10, r11, lr}
    widen_twelve
    cmp     r3, #0
    blt     .Lno_second
    ldm     r12!, {r10, r11, lr}
.Lsecond:
    widen_twelve
    ite     gt
    ldrgt   r10, [r12]
    movle   r10, r2
    sxtb16  r4, r10, ror #16
    sxtb16  r5, r10, ror #24
    strd    r4, r5, [r1], #8
    ldr     r12, [r0], #4
    cmp     r12, #0
    bne     .Lrow
    pop     {r4-r11, pc}
.Lno_second:
    mov     r10, r2
    mov     r11, r2
    mov     lr, r2
    b       .Lsecond
    .size   cg_widen_rgb_s8_dsp, . - cg_widen_rgb_s8_dsp

    @ A row of the windows at r0 by the weights at r1, added to r2-r5; both move on. If `is_first` the bias
    @ stands in front of the weights, and sums begin with it. Changes r6-r12, lr.
    .macro row_of_four is_first=0
    .if     \is_first
    ldm     r1!, {r5-r10}
    .else
    ldm     r1!, {r6-r10}
    .endif
    ldm     r0!, {r11, r12, lr}
    .if     \is_first
    smlad   r2, r11, r6, r5
    .else
    smlad   r2, r11, r6, r2
    .endif
    smlad   r2, r12, r7, r2
    smlad   r2, lr, r8, r2
    ldm     r0!, {r11, r12, lr}
    smlad   r2, r11, r9, r2
    smlad   r2, r12, r10, r2
    .if     \is_first
    smlad   r3, r11, r6, r5
    .else
    smlad   r3, r11, r6, r3
    .endif
    smlad   r3, r12, r7, r3
    smlad   r3, lr, r8, r3
    ldm     r0!, {r11, r12, lr}
    smlad   r3, r11, r9, r3
    smlad   r3, r12, r10, r3
    .if     \is_first
    smlad   r4, r11, r6, r5
    .else
    smlad   r4, r11, r6, r4
    .endif
    smlad   r4, r12, r7, r4
    smlad   r4, lr, r8, r4
    ldm     r0!, {r11, r12, lr}
    smlad   r4, r11, r9, r4
    smlad   r4, r12, r10, r4
    smlad   r5, r11, r6, r5
    smlad   r5, r12, r7, r5
    smlad   r5, lr, r8, r5
    ldrd    r11, r12, [r0], #8
    smlad   r5, r11, r9, r5
    smlad   r5, r12, r10, r5
    .endm

/* void cg_tile4_rgb_s8_dsp(const cg_rgb_tile_dsp *tile, int8_t *output) */
    frame cg_frame_cg_tile4_rgb_s8_dsp, F_BYTES
    function cg_tile4_rgb_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    ldm     r0, {r2-r7}                     @ steps, pixels, stream_end, stream
    stm     sp, {r1-r6}
    mov     r0, r5
    mov     r1, r7
.Lchannel:
    row_of_four 1
    row_of_four
    row_of_four
    ldm     r1!, {r6, r7, r8}               @ multiplier, half, the shift less one
    scale_away r6, r7, r9, r2, r3, r4, r5
    divide  r8, r2, r3, r4, r5
    ldm     sp, {r7-r10}
    strb    r5, [r7, r10]                   @ the first one last: missing ones lie in its place
    strb    r4, [r7, r9]
    strb    r3, [r7, r8]
    strb    r2, [r7], #1
    str     r7, [sp, #F_OUTPUT]
    ldrd    r0, r7, [sp, #F_PIXELS]
    cmp     r1, r7
    bne.w   .Lchannel
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}
    .size   cg_tile4_rgb_s8_dsp, . - cg_tile4_rgb_s8_dsp
