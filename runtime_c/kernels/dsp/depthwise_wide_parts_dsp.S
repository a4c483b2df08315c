@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_wide_parts_dsp.S -- the products of the 5x5 and 7x7 depthwise convolutions of stride 1 on
 * cores with the DSP extension: four results of a row at a time, from int16 lines.
 *
 * Why assembly: four sums, the weights of a row of the window and the pixels at hand are ten
 * registers, and rows are unrolled so that every pixel has a constant offset: 17 instructions for
 * the 20 products of a row of five taps, 22 for the 28 of seven. Structs: cg_depthwise_dsp.h.
 *
 * Lines: word (pair, row) of a channel holds pixels 2 pair (low half) and 2 pair + 1 of that row at
 * plane + (4 * pair * ROWS + row) * 4: the planes of four channels are interleaved.
 */
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    .equ ROWS, 8
    .equ PAIR, 4 * 4 * ROWS     /* bytes from pair to pair */

/* cg_dw_job */
    .equ JOB_COUNT, 0
    .equ JOB_COLUMNS, 8
    .equ JOB_ROWS, 12
    .equ JOB_STEP, 16
    .equ JOB_LINE, 20
    .equ JOB_ZERO, 24

    .equ F_MULTIPLIER, 0        /* of this channel, with its shift less one, and 2 zero + 1 */
    .equ F_ZERO, 8
    .equ F_OUTPUT, 12           /* where the next results go, columns to do */
    .equ F_BIAS, 20
    .equ F_ACROSS, 24           /* from a result to the column beside */
    .equ F_WEIGHTS, 28
    .equ F_PLANE, 32            /* first word and result of this channel */
    .equ F_ROW_PLANE, 40        /* of this row */
    .equ F_ROWS, 48             /* rows to do, bytes from one to the next */
    .equ F_COUNT, 56            /* channels to do */
    .equ F_JOB, 60
    .equ FRAME, 64

/*
 * Adds a row of five taps to four sums r2-r5, which begin with r12 if `is_first`: pixels at r0,
 * weights {w0 w1} {w1 w2} {w2 w3} {w3 w4} at r1, which moves on. Changes r6-r11.
 */
    .macro five_taps line, is_first
    ldm     r1!, {r6-r9}
    ldr     r10, [r0, #(4 * \line)]
    ldr     r11, [r0, #(4 * \line + PAIR)]
    .if \is_first
    smlad   r2, r10, r6, r12
    smlatb  r3, r10, r6, r12
    smlad   r4, r11, r6, r12
    smlatb  r5, r11, r6, r12
    .else
    smlad   r2, r10, r6, r2
    smlatb  r3, r10, r6, r3
    smlad   r4, r11, r6, r4
    smlatb  r5, r11, r6, r5
    .endif
    smlad   r2, r11, r8, r2
    smlad   r3, r11, r7, r3
    ldr     r10, [r0, #(4 * \line + 2 * PAIR)]
    ldr     r11, [r0, #(4 * \line + 3 * PAIR)]
    smlabt  r2, r10, r9, r2
    smlad   r3, r10, r9, r3
    smlad   r4, r10, r8, r4
    smlad   r5, r10, r7, r5
    smlabt  r4, r11, r9, r4
    smlad   r5, r11, r9, r5
    .endm

/*
 * Adds a row of seven taps: weights {w0 w1} {w1 w2} ... {w5 w6}, sums begin with lr. Changes r6-r12.
 */
    .macro seven_taps line, is_first
    ldm     r1!, {r6-r11}
    ldr     r12, [r0, #(4 * \line)]
    .if \is_first
    smlad   r2, r12, r6, lr
    smlatb  r3, r12, r6, lr
    ldr     r12, [r0, #(4 * \line + PAIR)]
    smlad   r4, r12, r6, lr
    smlatb  r5, r12, r6, lr
    .else
    smlad   r2, r12, r6, r2
    smlatb  r3, r12, r6, r3
    ldr     r12, [r0, #(4 * \line + PAIR)]
    smlad   r4, r12, r6, r4
    smlatb  r5, r12, r6, r5
    .endif
    smlad   r2, r12, r8, r2
    smlad   r3, r12, r7, r3
    ldr     r12, [r0, #(4 * \line + 2 * PAIR)]
    smlad   r2, r12, r10, r2
    smlad   r3, r12, r9, r3
    smlad   r4, r12, r8, r4
    smlad   r5, r12, r7, r5
    ldr     r12, [r0, #(4 * \line + 3 * PAIR)]
    smlabt  r2, r12, r11, r2
    smlad   r3, r12, r11, r3
    smlad   r4, r12, r10, r4
    smlad   r5, r12, r9, r5
    ldr     r12, [r0, #(4 * \line + 4 * PAIR)]
    smlabt  r4, r12, r11, r4
    smlad   r5, r12, r11, r5
    .endm

/*
 * void name(const cg_dw_job *job, const void *planes, const int32_t *channels, int8_t *output):
 * `taps` by `taps`; a channel's words are bias, multiplier, shift, weights. Results behind the row's
 * end are computed (from words that are there, whatever they hold) and not stored.
 */
    .macro wide name, taps
    frame   cg_frame_\name, FRAME
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    strd    r1, r3, [sp, #F_PLANE]
    ldr     r4, [r0, #JOB_ZERO]
    str     r4, [sp, #F_ZERO]
    ldr     r4, [r0, #JOB_COUNT]
    strd    r4, r0, [sp, #F_COUNT]
    ldrd    r4, r5, [r0, #JOB_STEP]     /* and JOB_LINE */
    str     r4, [sp, #F_ACROSS]
    str     r5, [sp, #(F_ROWS + 4)]
    mov     r1, r2
10:
    ldr     r5, [sp, #F_JOB]
    ldm     r1!, {r2, r3, r4}
    str     r2, [sp, #F_BIAS]
    strd    r3, r4, [sp, #F_MULTIPLIER]
    str     r1, [sp, #F_WEIGHTS]
    ldr     r4, [r5, #JOB_ROWS]
    ldrd    r0, r3, [sp, #F_PLANE]
11:
    str     r4, [sp, #F_ROWS]
    ldr     r5, [sp, #F_JOB]
    strd    r0, r3, [sp, #F_ROW_PLANE]
    ldr     r4, [r5, #JOB_COLUMNS]
    strd    r3, r4, [sp, #F_OUTPUT]
12:
    .if \taps == 5
    ldr     r12, [sp, #F_BIAS]
    .else
    ldr     lr, [sp, #F_BIAS]
    .endif
    .set line, 0
    .rept \taps
    .if \taps == 5
    five_taps line, (line == 0)
    .else
    seven_taps line, (line == 0)
    .endif
    .set line, line + 1
    .endr
    ldm     sp, {r6-r8}
    subs    r1, r1, #(4 * \taps * (\taps - 1))
    add     r0, r0, #(2 * PAIR)
    lsl     r8, r8, r7
    scale_away r6, r8, r9, r2, r3, r4, r5
    divide  r7, r2, r3, r4, r5
    ldrd    r6, r7, [sp, #F_OUTPUT]
    ldr     r8, [sp, #F_ACROSS]
    strb    r2, [r6]
    subs    r7, r7, #4
    blt     13f
    strb    r3, [r6, r8]
    add     r6, r6, r8, lsl #1
    strb    r4, [r6]
    strb    r5, [r6, r8]
    add     r6, r6, r8, lsl #1
    strd    r6, r7, [sp, #F_OUTPUT]
    bne.w   12b
    b       14f
13:
    /* One, two or three columns were left. */
    cmn     r7, #3
    beq     14f
    strb    r3, [r6, r8]
    cmn     r7, #2
    itt     ne
    addne   r6, r6, r8, lsl #1
    strbne  r4, [r6]
14:
    ldrd    r0, r3, [sp, #F_ROW_PLANE]
    ldrd    r4, r5, [sp, #F_ROWS]
    adds    r0, r0, #4
    add     r3, r3, r5
    subs    r4, r4, #1
    bne.w   11b
    ldr     r4, [sp, #F_COUNT]
    ldrd    r0, r3, [sp, #F_PLANE]
    subs    r4, r4, #1
    beq     15f
    str     r4, [sp, #F_COUNT]
    adds    r0, r0, #(4 * ROWS)
    adds    r3, r3, #1
    strd    r0, r3, [sp, #F_PLANE]
    add     r1, r1, #(4 * \taps * (\taps - 1))
    b       10b
15:
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
    .size   \name, . - \name
    .endm

    wide    cg_dw5x5_s8_dsp, 5
    wide    cg_dw7x7_s8_dsp, 7
