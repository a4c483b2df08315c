@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise3x3_parts_dsp.S -- the inner loops of the 3x3 depthwise convolution on cores with the DSP
 * extension (SMLAD): widen int8 pixels of four channels into int16 lines, and multiply.
 *
 * Why assembly: the loops hold six words of weights, four accumulators, two or three words of
 * pixels and a pointer, which is all fourteen registers; gcc 12 spills weights in every turn
 * (83 instead of 61 instructions for 2 x 2 results, with intrinsics at -O2).
 *
 * Lines: word (pair, row) of a channel holds pixels 2 pair (low half) and 2 pair + 1 of that row at
 * plane + (pair * ROWS + row) * 4, so that one pointer and constant offsets reach a whole window.
 * ROWS is 6 for four result rows at a time, 4 for two, 3 for one. The structs are those of
 * cg_depthwise_dsp.h.
 */
#include "cg_requantize_dsp.inc"

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

/* cg_dw_job */
    .equ JOB_COUNT, 0
    .equ JOB_PLANE, 4
    .equ JOB_COLUMNS, 8
    .equ JOB_ROWS, 12
    .equ JOB_STEP, 16
    .equ JOB_LINE, 20
    .equ JOB_ZERO, 24

/* The frame of both kernels. */
    .equ F_MULTIPLIER, 0        /* of this channel, with its shift and the zero point */
    .equ F_ZERO, 8
    .equ F_OUTPUT, 12           /* where the next results go */
    .equ F_DOWN, 16             /* from there to the row below (2 x 2) */
    .equ F_ACROSS, 20           /* from there to the column beside */
    .equ F_END, 24              /* where this row's output ends */
    .equ F_BIAS, 28
    .equ F_LINES, 32            /* first word and result of this row */
    .equ F_ROW_OUTPUT, 36
    .equ F_ROWS, 40             /* rows to do */
    .equ F_PLANE, 44            /* first word and result of this channel */
    .equ F_CHANNEL_OUTPUT, 48
    .equ F_CHANNEL, 52
    .equ F_COUNT, 56            /* channels to do */
    .equ F_JOB, 60
    .equ FRAME, 64

/* Both kernels begin so: the frame of the job in r0. Changes r4. */
    .macro enter
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r0, [sp, #F_JOB]
    ldr     r4, [r0, #JOB_ZERO]
    str     r4, [sp, #F_ZERO]
    ldr     r4, [r0, #JOB_COUNT]
    str     r4, [sp, #F_COUNT]
    .endm

/* And end so. */
    .macro leave name
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
    .size   \name, . - \name
    .endm

/*
 * void cg_dw3x3_s8_dsp_plane6(const cg_dw_job *job, const void *plane,
 *                             const int32_t *channels, int8_t *output), ..._plane4
 * Stride 1, lines of ROWS = 6 or 4: 2 x 2 results at a time, 61 instructions for 36 products.
 */
    .macro two_lines name, rows
    frame   cg_frame_\name, FRAME
    function \name
    enter
    strd    r1, r3, [sp, #F_PLANE]
10:
    ldm     r2!, {r4-r9}
    ldm     r2!, {r10-r12}
    str     r10, [sp, #F_BIAS]
    strd    r11, r12, [sp, #F_MULTIPLIER]
    str     r2, [sp, #F_CHANNEL]
    ldr     lr, [sp, #F_JOB]
    ldr     r2, [lr, #JOB_ROWS]
    ldrd    r0, r3, [sp, #F_PLANE]
11:
    /* Two rows; the second one falls onto the first where there is none. */
    strd    r0, r3, [sp, #F_LINES]
    str     r2, [sp, #F_ROWS]
    ldrd    r10, r11, [lr, #JOB_STEP]   /* step, bytes of a row */
    cmp     r2, #1
    it      eq
    moveq   r11, #0
    strd    r3, r11, [sp, #F_OUTPUT]
    str     r10, [sp, #F_ACROSS]
    ldr     r2, [lr, #JOB_COLUMNS]
    asrs    r2, r2, #1
    mul     r2, r2, r10
    add     r2, r3, r2, lsl #1
    ldr     r12, [sp, #F_BIAS]
    str     r2, [sp, #F_END]
    cmp     r2, r3
    beq     13f
12:
    ldrd    r10, r11, [r0, #(4 * \rows)]
    smlabt  r1, r10, r5, r12
    smlad   r2, r10, r5, r12
    smlabt  r3, r11, r5, r12
    smlad   lr, r11, r5, r12
    smlabt  r1, r11, r7, r1
    smlad   r2, r11, r7, r2
    ldrd    r10, r11, [r0, #(4 * \rows + 8)]
    smlabt  r1, r10, r9, r1
    smlad   r2, r10, r9, r2
    smlabt  r3, r10, r7, r3
    smlad   lr, r10, r7, lr
    smlabt  r3, r11, r9, r3
    smlad   lr, r11, r9, lr
    ldrd    r10, r11, [r0, #8]
    smlad   r1, r10, r8, r1
    smlatb  r2, r10, r8, r2
    smlad   r3, r10, r6, r3
    smlatb  lr, r10, r6, lr
    smlad   r3, r11, r8, r3
    smlatb  lr, r11, r8, lr
    ldrd    r10, r11, [r0], #(4 * \rows)
    smlad   r1, r10, r4, r1
    smlatb  r2, r10, r4, r2
    smlad   r3, r11, r4, r3
    smlatb  lr, r11, r4, lr
    smlad   r1, r11, r6, r1
    smlatb  r2, r11, r6, r2
    ldm     sp, {r10-r12}
    requantize_doubled r1, r10, r11, r12
    requantize_doubled r2, r10, r11, r12
    requantize_doubled r3, r10, r11, r12
    requantize_doubled lr, r10, r11, r12
    ldrd    r10, r11, [sp, #F_OUTPUT]
    ldr     r12, [sp, #F_ACROSS]
    add     r11, r10, r11
    strb    lr, [r11, r12]
    strb    r3, [r11]
    strb    r2, [r10, r12]
    strb    r1, [r10]
    add     r10, r10, r12, lsl #1
    str     r10, [sp, #F_OUTPUT]
    ldrd    r11, r12, [sp, #F_END]
    cmp     r10, r11
    bne     12b
13:
    /* An odd last column is done with its neighbour falling onto it. */
    ldr     lr, [sp, #F_JOB]
    ldr     r2, [lr, #JOB_COLUMNS]
    ldr     r3, [sp, #F_ACROSS]
    lsls    r2, r2, #31
    beq     14f
    cbz     r3, 14f
    movs    r2, #0
    str     r2, [sp, #F_ACROSS]
    ldr     r2, [sp, #F_OUTPUT]
    str     r2, [sp, #F_END]
    b       12b
14:
    ldrd    r0, r3, [sp, #F_LINES]
    ldr     r2, [sp, #F_ROWS]
    ldr     r10, [lr, #JOB_LINE]
    adds    r0, r0, #8
    add     r3, r3, r10, lsl #1
    subs    r2, r2, #2
    bgt     11b
    ldr     r2, [sp, #F_COUNT]
    subs    r2, r2, #1
    beq     15f
    str     r2, [sp, #F_COUNT]
    ldrd    r0, r3, [sp, #F_PLANE]
    ldr     r2, [lr, #JOB_PLANE]
    add     r0, r0, r2
    adds    r3, r3, #1
    strd    r0, r3, [sp, #F_PLANE]
    ldr     r2, [sp, #F_CHANNEL]
    b       10b
15:
    leave   \name
    .endm

    two_lines cg_dw3x3_s8_dsp_plane6, 6
    two_lines cg_dw3x3_s8_dsp_plane4, 4

/*
 * A window of three columns, from words of two pixels: r11 r12 lr hold those of its three rows, then
 * the next ones. r1 r3 r5 are the first two weights of each row, r2 r4 r6 the last two, r10 is the
 * bias. One that starts at the words' first pixel:
 */
    .macro start sum
    smlad   \sum, r11, r1, r10
    smlad   \sum, r12, r3, \sum
    smlad   \sum, lr, r5, \sum
    .endm

/* What the next words add to it: its third column. */
    .macro end sum
    smlabt  \sum, r11, r2, \sum
    smlabt  \sum, r12, r4, \sum
    smlabt  \sum, lr, r6, \sum
    .endm

/* One that starts at the first pixel (even) and one at the second (odd), one row of them. */
    .macro start_row word, weights, even, odd, from_even, from_odd
    smlad   \even, \word, \weights, \from_even
    smlatb  \odd, \word, \weights, \from_odd
    .endm

/* What the next words add to both. */
    .macro end_row word, weights, even, odd
    smlabt  \even, \word, \weights, \even
    smlad   \odd, \word, \weights, \odd
    .endm

/* All three rows. `odd` may be r10. */
    .macro start_both even, odd
    start_row r11, r1, \even, \odd, r10, r10
    start_row r12, r3, \even, \odd, \even, \odd
    start_row lr, r5, \even, \odd, \even, \odd
    .endm

/* All three rows of that. */
    .macro end_both even, odd
    end_row r11, r2, \even, \odd
    end_row r12, r4, \even, \odd
    end_row lr, r6, \even, \odd
    .endm

/*
 * void cg_dw3x3_s8_dsp_line1(const cg_dw_job *job, const void *plane,
 *                            const int32_t *channels, int8_t *output), ..._line2
 * One result row, lines of ROWS = 3, stride 1 or 2: 4 results at a time. Results behind the row's
 * end are computed (from words that are there, whatever they hold) and not stored.
 */
    .macro one_line name, stride
    frame   cg_frame_\name, FRAME
    function \name
    enter
    ldr     r4, [r0, #JOB_STEP]
    str     r4, [sp, #F_ACROSS]
    mov     lr, r2
    strd    r1, r3, [sp, #F_PLANE]
    mov     r11, r3
20:
    ldr     r0, [sp, #F_JOB]
    ldr     r12, [r0, #JOB_COLUMNS]
    mov     r0, lr
    ldm     r0!, {r1-r6}
    ldm     r0!, {r8-r10}
    str     r0, [sp, #F_CHANNEL]
    strd    r9, r10, [sp, #F_MULTIPLIER]
    str     r8, [sp, #F_BIAS]
    mov     r10, r8
    strd    r11, r12, [sp, #F_OUTPUT]   /* F_DOWN: columns to do */
    ldr     r0, [sp, #F_PLANE]
    cmp     r12, #2
    ble     22f
21:
    .if \stride == 1
    ldm     r0!, {r11, r12, lr}
    start_both r7, r8
    ldm     r0!, {r11, r12, lr}
    start_row r11, r1, r9, r10, r10, r10
    end_row r11, r2, r7, r8
    start_row r12, r3, r9, r10, r9, r10
    end_row r12, r4, r7, r8
    start_row lr, r5, r9, r10, r9, r10
    end_row lr, r6, r7, r8
    ldm     r0, {r11, r12, lr}
    end_both r9, r10
    .else
    ldm     r0!, {r11, r12, lr}
    start   r7
    ldm     r0!, {r11, r12, lr}
    start   r8
    end     r7
    ldm     r0!, {r11, r12, lr}
    start   r9
    end     r8
    ldm     r0!, {r11, r12, lr}
    start   r10
    end     r9
    ldm     r0, {r11, r12, lr}
    end     r10
    .endif
    ldm     sp, {r11, r12, lr}
    requantize_doubled r7, r11, r12, lr
    requantize_doubled r8, r11, r12, lr
    requantize_doubled r9, r11, r12, lr
    requantize_doubled r10, r11, r12, lr
    ldrd    r11, r12, [sp, #F_OUTPUT]
    ldr     lr, [sp, #F_ACROSS]
    subs    r12, r12, #4
    strb    r7, [r11]
    strb    r8, [r11, lr]
    add     r11, r11, lr, lsl #1
    strb    r9, [r11]
    it      ge
    strbge  r10, [r11, lr]
    add     r11, r11, lr, lsl #1
    strd    r11, r12, [sp, #F_OUTPUT]
    ldr     r10, [sp, #F_BIAS]
    cmp     r12, #2
    bgt     21b
22:
    cmp     r12, #0
    ble     23f
    /* One or two columns are left. */
    .if \stride == 1
    ldm     r0!, {r11, r12, lr}
    start_both r7, r10
    ldm     r0, {r11, r12, lr}
    end_both r7, r10
    .else
    ldm     r0!, {r11, r12, lr}
    start   r7
    ldm     r0!, {r11, r12, lr}
    start   r10
    end     r7
    ldm     r0, {r11, r12, lr}
    end     r10
    .endif
    ldm     sp, {r11, r12, lr}
    requantize_doubled r7, r11, r12, lr
    requantize_doubled r10, r11, r12, lr
    ldrd    r11, r12, [sp, #F_OUTPUT]
    strb    r7, [r11]
    cmp     r12, #1
    ldr     lr, [sp, #F_ACROSS]
    it      gt
    strbgt  r10, [r11, lr]
23:
    ldr     r12, [sp, #F_COUNT]
    subs    r12, r12, #1
    beq     24f
    str     r12, [sp, #F_COUNT]
    ldr     r9, [sp, #F_JOB]
    ldrd    r10, r11, [sp, #F_PLANE]
    ldr     r9, [r9, #JOB_PLANE]
    add     r10, r10, r9
    add     r11, r11, #1
    strd    r10, r11, [sp, #F_PLANE]
    ldr     lr, [sp, #F_CHANNEL]
    b       20b
24:
    leave   \name
    .endm

    one_line cg_dw3x3_s8_dsp_line1, 1
    one_line cg_dw3x3_s8_dsp_line2, 2
