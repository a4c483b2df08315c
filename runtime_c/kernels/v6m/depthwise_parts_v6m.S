@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_parts_v6m.S -- the inner loops of depthwise convolution on ARMv6-M.
 *
 * Why assembly: all registers are in use, and the carry of a shift rounds the upper half for
 * nothing; two taps of two results take 8 instructions.
 */
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

/* ---- pairs ---------------------------------------------------------------------------- */

/* void cg_dw_pair_v6m(runs, runs_end, step, channel) */
    frame   cg_frame_cg_dw_pair_v6m, 0, 32
    function cg_dw_pair_v6m
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    push    {r4-r6}
    mov     r9, r1
    mov     r12, r2
    mov     r10, r3
1:
    ldm     r0!, {r1-r6}
    mov     r8, r0
    mov     lr, r6
    add     r1, r10
    add     r2, r10
    movs    r0, #0
2:
    ldrsb   r6, [r1, r0]
    ldrsb   r7, [r2, r0]
    lsls    r7, r7, #16
    adds    r6, r6, r7
    str     r6, [r5]
    adds    r1, r1, r3
    adds    r2, r2, r4
    add     r5, r12
    cmp     r5, lr
    bne     2b
    mov     r0, r8
    cmp     r0, r9
    bne     1b
    pop     {r4-r6}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    pop     {r4-r7, pc}
    .size cg_dw_pair_v6m, . - cg_dw_pair_v6m

/* ---- results -------------------------------------------------------------------------- */

/* cg_dw_v6m */
    .equ DW_LINES, 0
    .equ DW_ROW_BYTES, 12
    .equ DW_MIDDLE, 16
    .equ DW_MIN, 20
    .equ DW_MAX, 24
    .equ DW_TAPS, 32
    .equ DW_END, 36
    .equ DW_TAP_BYTES, 40
    .equ DW_REST, 44
    .equ DW_OUT_STEP, 48
    .equ DW_OUT_HALF, 52

    .equ F_BIAS, 0
    .equ F_WHOLE, 4             /* bias in both halves */
    .equ F_HIGH, 8
    .equ F_LOW, 12
    .equ F_TAPS, 16
    .equ F_OUTPUT, 20
    .equ F_HALF, 24
    .equ F_END, 28
    .equ F_MIN, 32
    .equ F_MAX, 36
    .equ F_SELF, 40
    .equ F_STREAM, 44
    .equ F_TAPS_END, 48
    .equ F_SUMS, 52
    .equ F_REST, 60
    .equ F_STEP, 64
    .equ FRAME, 68              /* with 36 of save_all a multiple of 8 */

/* Two taps, weights at r1, pixels at r0, to r6 (sum of upper halves) and r7 (of whole words). The
 * carry is the lower half's sign, which the shift took from the upper one. */
    .macro two_taps
    ldm     r1!, {r4, r5}
    ldm     r0!, {r2, r3}
    muls    r2, r4, r2
    muls    r3, r5, r3
    adds    r2, r2, r3
    asrs    r4, r2, #16
    adcs    r6, r6, r4
    adds    r7, r7, r2
    .endm

/* A window at r0: r2 is the lower sum, r6 the upper one. */
    .macro window unrolled
    ldr     r6, [sp, #F_BIAS]
    ldr     r7, [sp, #F_WHOLE]
    ldr     r1, [sp, #F_TAPS]
    .if \unrolled
    .rept 5
    two_taps
    .endr
    .else
4:
    two_taps
    cmp     r1, lr
    bne     4b
    .endif
    lsls    r2, r6, #16
    subs    r2, r7, r2
    .endm

/* r2 requantized to the byte at [r1\and]: r4 low, r5 high, r8 limit, r9 offset; \kinked: r10
 * middle, r11 the kink, negative. */
    .macro store id, kinked, and:vararg
    scale   \id, r8, r5, r4, r9
    .if \kinked
    cmp     r2, r10
    bge     positive\id
    add     r2, r11
positive\id:
    .endif
    lsrs    r2, r2, #24
stored\id:
    strb    r2, [r1\and]
    .endm

/* To the next window at 1, or on behind the last one. */
    .macro advance unrolled
    add     r1, r12
    str     r1, [sp, #F_OUTPUT]
    .if \unrolled
    add     r0, lr
    .else
    ldr     r3, [sp, #F_REST]
    adds    r0, r0, r3
    .endif
    ldr     r3, [sp, #F_END]
    cmp     r0, r3
    bne     1b
    .endm

/* All pairs of results of a channel the short way; then on at 9. */
    .macro results id, unrolled, kinked
1:
    window  \unrolled
    ldr     r4, [sp, #F_LOW]
    ldr     r5, [sp, #F_HIGH]
    ldr     r1, [sp, #F_OUTPUT]
    store   a\id, \kinked
    movs    r2, r6
    ldr     r7, [sp, #F_HALF]
    store   b\id, \kinked, , r7
    advance \unrolled
    b       9f
    saturate a\id
    saturate b\id
    .endm

/* The function \name(layer, stream, output); returns where the stream goes on. */
    .macro channel name, id, unrolled
    frame   cg_frame_\name, FRAME
    function \name
    save_all
    sub     sp, sp, #FRAME
    str     r0, [sp, #F_SELF]
    str     r2, [sp, #F_OUTPUT]
    ldm     r1!, {r2}
    str     r2, [sp, #F_BIAS]
    lsls    r3, r2, #16
    adds    r3, r3, r2
    str     r3, [sp, #F_WHOLE]
    ldr     r2, [r0, #DW_TAPS]
    str     r2, [sp, #F_TAPS]
    ldr     r3, [r0, #DW_ROW_BYTES]
    adds    r3, r3, r1
    mov     r12, r3
1:  /* four weights to words */
    ldm     r1!, {r3}
    sxtb    r4, r3
    lsls    r5, r3, #16
    asrs    r5, r5, #24
    lsls    r6, r3, #8
    asrs    r6, r6, #24
    asrs    r7, r3, #24
    stm     r2!, {r4-r7}
    cmp     r1, r12
    bne     1b
    ldm     r1!, {r2, r3, r4, r5}   /* limit and low, high, offset, kink */
    str     r1, [sp, #F_STREAM]
    str     r3, [sp, #F_HIGH]
    mov     r9, r4
    rsbs    r5, r5, #0
    mov     r11, r5
    ldr     r4, [r0, #DW_OUT_STEP]
    mov     r12, r4
    str     r4, [sp, #F_STEP]
    ldr     r4, [r0, #DW_OUT_HALF]
    str     r4, [sp, #F_HALF]
    ldr     r4, [r0, #DW_END]
    str     r4, [sp, #F_END]
    ldr     r4, [r0, #DW_MIN]
    str     r4, [sp, #F_MIN]
    ldr     r4, [r0, #DW_MAX]
    str     r4, [sp, #F_MAX]
    ldr     r4, [r0, #DW_MIDDLE]
    mov     r10, r4
    ldr     r4, [r0, #DW_REST]
    str     r4, [sp, #F_REST]
    ldr     r6, [r0, #DW_TAP_BYTES]
    ldr     r7, [sp, #F_TAPS]
    adds    r6, r6, r7
    str     r6, [sp, #F_TAPS_END]
    .if \unrolled
    mov     lr, r4
    .else
    mov     lr, r6
    .endif
    lsrs    r4, r2, #13
    mov     r8, r4
    lsls    r4, r2, #19
    lsrs    r4, r4, #19
    str     r4, [sp, #F_LOW]
    ldr     r0, [r0, #DW_LINES]
    cmp     r5, #0
    beq     2f
    lsls    r4, r5, #1
    beq     5f                      /* the kink is -2^31: the long way */
    b       3f
5:
    mov     r11, r2                 /* its shift */
    b       6f
2:
    results 0\id, \unrolled, 0
3:
    results 1\id, \unrolled, 1
6:
1:
    window  \unrolled
    str     r2, [sp, #F_SUMS]
    str     r6, [sp, #(F_SUMS + 4)]
    movs    r6, r0
    movs    r3, #2
    lsls    r3, r3, #8
    add     r3, r11
    ldr     r2, [sp, #F_HIGH]
    add     r1, sp, #F_SUMS
    ldr     r0, [sp, #F_SELF]
    bl      cg_requantize_s8_v6m
    movs    r0, r6
    ldr     r2, [sp, #F_STEP]
    mov     r12, r2
    .if \unrolled
    ldr     r2, [sp, #F_REST]
    .else
    ldr     r2, [sp, #F_TAPS_END]
    .endif
    mov     lr, r2
    ldr     r1, [sp, #F_OUTPUT]
    ldr     r7, [sp, #F_HALF]
    ldr     r2, [sp, #F_SUMS]
    strb    r2, [r1]
    ldr     r2, [sp, #(F_SUMS + 4)]
    strb    r2, [r1, r7]
    advance \unrolled
9:
    ldr     r0, [sp, #F_STREAM]
    add     sp, sp, #FRAME
    return_all
    .size \name, . - \name
    .endm

    channel cg_dw_channel9_v6m, u, 1
    channel cg_dw_channel_v6m, l, 0
