@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise3x3_parts_dsp.S -- the inner loops of the 3x3 depthwise convolution on cores with the DSP
 * extension (SMLAD): widen int8 pixels of four channels into int16 lines, and multiply.
 *
 * Why assembly, and how lines lie: cg_dw3x3_dsp.inc. The structs are those of cg_depthwise_dsp.h.
 */
#include "cg_dw3x3_dsp.inc"

/* cg_dw_lines */
    .equ LINES_ROWS, 0
    .equ LINES_COUNT, 24
    .equ LINES_PLANE, 28
    .equ LINES_STEP, 32
    .equ LINES_PAIRS, 36
    .equ LINES_REST, 40
    .equ LINES_LEAD, 44
    .equ LINES_ODD, 48
    .equ LINES_PAD, 52

/* The frame of `widen`. */
    .equ W_ROW, 0               /* where the next row's address is, its line */
    .equ W_LINE, 4
    .equ W_OFFSET, 8
    .equ W_COUNT, 12
    .equ W_FRAME, 16

/* Byte `at` of the pixels at r8 and r9, widened, to a line. Changes r10, r11. */
    .macro pair_of_bytes at, line, rows
    ldrsb   r10, [r8, #\at]
    ldrsb   r11, [r9, #\at]
    pkhbt   r10, r10, r11, lsl #16
    str     r10, [\line], #(4 * \rows)
    .endm

/*
 * void name(const cg_dw_lines *lines, int32_t offset, void *planes): `count` rows, four channels from
 * `offset` on, into the planes, line by line. `step`: bytes from pixel to pixel.
 * Words of a line: `pairs` of two pixels (the first has padding in front of a pixel if `lead`), then
 * `rest` of padding, the first of them with a pixel in front if `odd`.
 */
    .macro widen name, rows, bytewise
    frame   cg_frame_\name, W_FRAME
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #W_FRAME
    strd    r0, r2, [sp, #W_ROW]
    ldr     r7, [r0, #LINES_COUNT]
    strd    r1, r7, [sp, #W_OFFSET]
    .if \bytewise
    add     lr, r0, #LINES_PAD
    .else
    ldr     lr, [r0, #LINES_PAD]
    .endif
5:
    ldrd    r10, r2, [sp, #W_ROW]
    ldr     r6, [r0, #LINES_PLANE]
    ldr     r1, [r10], #4
    add     r11, r2, #4
    strd    r10, r11, [sp, #W_ROW]
    add     r4, r2, r6
    add     r5, r4, r6
    add     r6, r5, r6
    ldrd    r7, r12, [r0, #LINES_PAIRS]
    cmp     r1, #0
    beq     7f
    ldr     r10, [sp, #W_OFFSET]
    ldr     r3, [r0, #LINES_STEP]
    add     r1, r1, r10
    cmp     r7, #0
    beq     3f
    ldr     r10, [r0, #LINES_LEAD]
    cmp     r10, #0
    beq     1f
    mov     r8, lr
    .if \bytewise
    mov     r9, r1
    .else
    ldr     r9, [r1]
    .endif
    add     r1, r1, r3
    b       2f
1:
    .if \bytewise
    mov     r8, r1
    add     r9, r1, r3
    .else
    ldr     r8, [r1]
    ldr     r9, [r1, r3]
    .endif
    add     r1, r1, r3, lsl #1
2:
    .if \bytewise
    pair_of_bytes 0, r2, \rows
    pair_of_bytes 1, r4, \rows
    pair_of_bytes 2, r5, \rows
    pair_of_bytes 3, r6, \rows
    .else
    pkhbt   r10, r8, r9, lsl #16
    pkhtb   r11, r9, r8, asr #16
    sxtb16  r8, r10
    sxtb16  r9, r10, ror #8
    sxtb16  r10, r11
    sxtb16  r11, r11, ror #8
    str     r8, [r2], #(4 * \rows)
    str     r9, [r4], #(4 * \rows)
    str     r10, [r5], #(4 * \rows)
    str     r11, [r6], #(4 * \rows)
    .endif
    subs    r7, r7, #1
    bne     1b
3:
    cmp     r12, #0
    beq     6f
    ldr     r10, [r0, #LINES_ODD]
    cmp     r10, #0
    beq     8f
    cmp     r3, #0
    beq     8f
    /* A pixel in front of padding; then step 0 tells that it was the last one. */
    subs    r12, r12, #1
    .if \bytewise
    mov     r8, r1
    .else
    ldr     r8, [r1]
    .endif
    mov     r9, lr
    movs    r3, #0
    movs    r7, #1
    b       2b
7:
    /* A row of padding. */
    add     r12, r12, r7
8:
    ldrsb   r8, [r0, #LINES_PAD]
    pkhbt   r8, r8, r8, lsl #16
9:
    str     r8, [r2], #(4 * \rows)
    str     r8, [r4], #(4 * \rows)
    str     r8, [r5], #(4 * \rows)
    str     r8, [r6], #(4 * \rows)
    subs    r12, r12, #1
    bne     9b
6:
    ldr     r7, [sp, #W_COUNT]
    subs    r7, r7, #1
    str     r7, [sp, #W_COUNT]
    bne     5b
    add     sp, sp, #W_FRAME
    pop     {r4-r11, pc}
    .size \name, . - \name
    .endm

    widen   cg_dw_widen6_words_dsp, 6, 0
    widen   cg_dw_widen6_bytes_dsp, 6, 1
    widen   cg_dw_widen4_words_dsp, 4, 0
    widen   cg_dw_widen4_bytes_dsp, 4, 1
    widen   cg_dw_widen3_words_dsp, 3, 0
    widen   cg_dw_widen3_bytes_dsp, 3, 1

    two_lines cg_dw3x3_s8_dsp_plane6, 6
    two_lines cg_dw3x3_s8_dsp_plane4, 4
    one_line cg_dw3x3_s8_dsp_line1, 1
    one_line cg_dw3x3_s8_dsp_line2, 2
