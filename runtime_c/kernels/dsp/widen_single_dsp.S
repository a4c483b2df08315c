@ SPDX-License-Identifier: Apache-2.0
/*
 * widen_single_dsp.S -- int8 rows of an image of one channel into int16 lines, as
 * depthwise3x3_parts_dsp.S does it for four channels. The struct is that of cg_depthwise_dsp.h.
 *
 * Why assembly: six instructions for two pixels; gcc 12 at -O3 takes eight with intrinsics.
 */
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

    .equ LINES_COUNT, 32
    .equ LINES_PAIRS, 44
    .equ LINES_REST, 48
    .equ LINES_ODD, 52
    .equ LINES_LEAD, 56
    .equ LINES_PAD, 60
    .equ LINE_ROWS, 3

/*
 * void cg_dw_widen3_single_dsp(const cg_dw_lines *lines, void *plane)
 * r2 row, r3 line, r4 pairs, r5 words of padding, r6 zero points, r7 rows to do.
 */
    function cg_dw_widen3_single_dsp
    push    {r4-r9, lr}
    ldrsb   r6, [r0, #LINES_PAD]
    pkhbt   r6, r6, r6, lsl #16
    ldr     r7, [r0, #LINES_COUNT]
    mov     lr, r0
1:
    ldr     r2, [lr], #4
    mov     r3, r1
    adds    r1, r1, #4
    ldrd    r4, r5, [r0, #LINES_PAIRS]
    cbz     r2, 5f
    cbz     r4, 4f
    ldr     r8, [r0, #LINES_LEAD]
    cmp     r8, #0
    beq     2f
    /* Padding in front of a pixel. */
    ldrsb   r9, [r2], #1
    pkhbt   r8, r6, r9, lsl #16
    b       3f
2:
    ldrsb   r8, [r2], #1
    ldrsb   r9, [r2], #1
    pkhbt   r8, r8, r9, lsl #16
3:
    str     r8, [r3], #(4 * LINE_ROWS)
    subs    r4, r4, #1
    bne     2b
4:
    cbz     r5, 7f
    ldr     r8, [r0, #LINES_ODD]
    cmp     r8, #0
    beq     6f
    /* A pixel in front of padding. */
    ldrsb   r8, [r2]
    pkhbt   r8, r8, r6, lsl #16
    str     r8, [r3], #(4 * LINE_ROWS)
    subs    r5, r5, #1
    beq     7f
    b       6f
5:
    add     r5, r5, r4
6:
    str     r6, [r3], #(4 * LINE_ROWS)
    subs    r5, r5, #1
    bne     6b
7:
    subs    r7, r7, #1
    bne     1b
    pop     {r4-r9, pc}
    .size   cg_dw_widen3_single_dsp, . - cg_dw_widen3_single_dsp
