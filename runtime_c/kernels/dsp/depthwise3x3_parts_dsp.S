@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise3x3_parts_dsp.S -- the inner loops of the 3x3 depthwise convolution on cores with the DSP
 * extension (SMLAD): widen int8 pixels of four channels into int16 lines, and multiply.
 *
 * Why assembly, and how lines lie: cg_dw3x3_dsp.inc. The structs are those of cg_depthwise_dsp.h.
 */
#include "cg_needs_dsp.h"
#include "cg_dw3x3_dsp.inc"

/* cg_dw_lines */
    .equ LINES_ROWS, 0
    .equ LINES_COUNT, 32
    .equ LINES_PLANE, 36
    .equ LINES_STEP, 40
    .equ LINES_PAIRS, 44
    .equ LINES_REST, 48
    .equ LINES_ODD, 52
    .equ LINES_LEAD, 56
    .equ LINES_PAD, 60

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

/* The frame of `widen_two`. */
    .equ T_LINES, 0
    .equ T_OFFSET, 4
    .equ T_ROW, 8               /* where the next rows' addresses are, their lines */
    .equ T_PLANES, 12
    .equ T_END, 16              /* behind the last row's address */
    .equ T_FRAME, 20

/*
 * A row and the bytes between its pixels: to r4 bytes further and r5; of padding the pixel at r7,
 * again and again.
 */
    .macro row_or_padding row, step
    cmp     \row, #0
    ittee   eq
    moveq   \row, r7
    moveq   \step, #0
    addne   \row, \row, r4
    movne   \step, r5
    .endm

/*
 * Bytes `at` of the pixels at r1 and r4 and of those at r2 and r5, a row below, widened, to the lines at
 * r12, which goes on to the next pair with byte 0. Changes r6-r9.
 */
    .macro two_pairs_of_bytes at, rows
    ldrsb   r6, [r1, #\at]
    ldrsb   r7, [r4, #\at]
    ldrsb   r8, [r2, #\at]
    ldrsb   r9, [r5, #\at]
    pkhbt   r6, r6, r7, lsl #16
    pkhbt   r8, r8, r9, lsl #16
    .if \at
    strd    r6, r8, [r12, #(4 * \rows * \at)]
    .else
    strd    r6, r8, [r12], #(16 * \rows)
    .endif
    .endm

/*
 * void name(const cg_dw_lines *lines, int32_t offset, void *planes): as `widen`, two rows at a time
 * (`count` is even), and the lines of four channels lie side by side, pair by pair. r0 pairs to do
 * (-1: the odd pixel is done too), r1 r2 pixels of both rows, r3 lr bytes to the next ones, r12 planes.
 * Four channels are a word where a pixel is some words, else bytes.
 */
    .macro widen_two name, rows
    frame   cg_frame_\name, T_FRAME
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #T_FRAME
    strd    r0, r1, [sp, #T_LINES]
    ldr     r3, [r0, #LINES_COUNT]
    add     r3, r0, r3, lsl #2
    str     r3, [sp, #T_END]
    mov     r10, r0                     /* LINES_ROWS is 0 */
    mov     r11, r2
5:
    ldrd    r6, r4, [sp, #T_LINES]
    mov     r12, r11
    ldrd    r1, r2, [r10], #8
    adds    r11, r11, #8
    strd    r10, r11, [sp, #T_ROW]
    ldrd    r5, r0, [r6, #LINES_STEP]   /* and LINES_PAIRS */
    add     r7, r6, #LINES_PAD
    row_or_padding r1, r3
    row_or_padding r2, lr
    ldr     r4, [r6, #LINES_LEAD]
    lsls    r5, r5, #30
    bne     10f
    cbz     r0, 3f
    cbz     r4, 1f
    ldr     r4, [r7]
    mov     r6, r4
    ldr     r5, [r1]
    add     r1, r1, r3
    ldr     r7, [r2]
    add     r2, r2, lr
    b       2f
1:
    ldr     r4, [r1]
    ldr     r5, [r1, r3]
    add     r1, r1, r3, lsl #1
    ldr     r6, [r2]
    ldr     r7, [r2, lr]
    add     r2, r2, lr, lsl #1
2:
    pkhbt   r8, r4, r5, lsl #16
    pkhtb   r9, r5, r4, asr #16
    pkhbt   r10, r6, r7, lsl #16
    pkhtb   r11, r7, r6, asr #16
    sxtb16  r4, r8, ror #8
    sxtb16  r5, r10, ror #8
    strd    r4, r5, [r12, #(4 * \rows)]
    sxtb16  r6, r9
    sxtb16  r7, r11
    strd    r6, r7, [r12, #(8 * \rows)]
    sxtb16  r9, r9, ror #8
    sxtb16  r11, r11, ror #8
    strd    r9, r11, [r12, #(12 * \rows)]
    sxtb16  r8, r8
    sxtb16  r10, r10
    strd    r8, r10, [r12], #(16 * \rows)
    subs    r0, r0, #1
    bgt     1b
3:
    ldr     r6, [sp, #T_LINES]
    ldrd    r7, r5, [r6, #LINES_REST]   /* and LINES_ODD */
    cmn     r5, r0
    beq     4f
    /* Pixels in front of padding. */
    ldr     r5, [r6, #LINES_PAD]
    ldr     r4, [r1]
    mov     r7, r5
    ldr     r6, [r2]
    b       2b
4:
    subs    r7, r7, r5
    beq     6f
    ldrsb   r4, [r6, #LINES_PAD]
    pkhbt   r4, r4, r4, lsl #16
7:
    strd    r4, r4, [r12, #(4 * \rows)]
    strd    r4, r4, [r12, #(8 * \rows)]
    strd    r4, r4, [r12, #(12 * \rows)]
    strd    r4, r4, [r12], #(16 * \rows)
    subs    r7, r7, #1
    bne     7b
6:
    ldrd    r10, r11, [sp, #T_ROW]
    ldr     r3, [sp, #T_END]
    cmp     r10, r3
    bne     5b
    add     sp, sp, #T_FRAME
    pop     {r4-r11, pc}
10:
    /* By bytes. */
    cmp     r0, #0
    beq     13f
    cbz     r4, 11f
    mov     r4, r1
    mov     r1, r7
    mov     r5, r2
    mov     r2, r7
    b       12f
11:
    add     r4, r1, r3
    add     r5, r2, lr
12:
    two_pairs_of_bytes 1, \rows
    two_pairs_of_bytes 2, \rows
    two_pairs_of_bytes 3, \rows
    two_pairs_of_bytes 0, \rows
    add     r1, r4, r3
    add     r2, r5, lr
    subs    r0, r0, #1
    bgt     11b
13:
    ldr     r6, [sp, #T_LINES]
    ldrd    r7, r5, [r6, #LINES_REST]   /* and LINES_ODD */
    cmn     r5, r0
    beq     4b
    add     r4, r6, #LINES_PAD
    mov     r5, r4
    b       12b
    .size \name, . - \name
    .endm

    widen_two cg_dw_widen6_dsp, 6
    widen_two cg_dw_widen4_dsp, 4
    widen_two cg_dw_widen8_dsp, 8
    widen   cg_dw_widen3_words_dsp, 3, 0
    widen   cg_dw_widen3_bytes_dsp, 3, 1

/* void cg_dw_keep_lines_dsp(void *planes, int32_t pairs) */
    function cg_dw_keep_lines_dsp
1:
    .rept   4
    ldrd    r2, r3, [r0, #8]
    strd    r2, r3, [r0], #16
    .endr
    subs    r1, r1, #1
    bne     1b
    bx      lr
    .size   cg_dw_keep_lines_dsp, . - cg_dw_keep_lines_dsp

    two_lines cg_dw3x3_s8_dsp_plane6, 6
    two_lines cg_dw3x3_s8_dsp_plane4, 4
    one_line cg_dw3x3_s8_dsp_line1, 1
    one_line cg_dw3x3_s8_dsp_line2, 2
