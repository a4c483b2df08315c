@ SPDX-License-Identifier: Apache-2.0
/*
 * tile_s8_v6m.S -- all output channels of four paired pixels, or of two, on ARMv6-M.
 *
 * Why assembly: all fifteen registers are in use; two pairs of pixels and four taps take 35
 * instructions for 16 products.
 *
 * An accumulator's pair of pixels is kept as two numbers: the sum of the upper halves, and the sum
 * of the whole words modulo 2^32. The lower pixel is the second less 2^16 times the first.
 */
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

/* CG_LANES_V6M in both halves */
    .equ LANES, (32640 << 16) + 32640

    .equ TILE_PIXELS, 0
    .equ TILE_STREAM, 4
    .equ TILE_END, 8
    .equ TILE_ROW_BYTES, 12
    .equ TILE_MIDDLE, 16
    .equ TILE_MIN, 20
    .equ TILE_MAX, 24

    .equ F_SUMS, 0              /* of a channel that is requantized the long way */
    .equ F_PIXELS, 16
    .equ F_ROW_BYTES, 20
    .equ F_OUTPUT, 24           /* of the next channel */
    .equ F_STEP, 28
    .equ F_LAST_STEP, 32
    .equ F_STREAM, 36           /* of the next channel */
    .equ F_END, 40
    .equ F_MIDDLE, 44
    .equ F_MIN, 48
    .equ F_MAX, 52
    .equ F_TILE, 56
    .equ FRAME, 60              /* with 36 of save_all a multiple of 8 */

/* A function: its frame from the tile in r0 and what it is called with; r1 is the stream. */
    .macro begin name
    frame   cg_frame_\name, FRAME
    function \name
    save_all
    sub     sp, sp, #FRAME
    str     r0, [sp, #F_TILE]
    str     r1, [sp, #F_OUTPUT]
    str     r2, [sp, #F_STEP]
    str     r3, [sp, #F_LAST_STEP]
    ldr     r1, [r0, #TILE_PIXELS]
    ldr     r2, [r0, #TILE_ROW_BYTES]
    str     r1, [sp, #F_PIXELS]
    str     r2, [sp, #F_ROW_BYTES]
    ldr     r1, [r0, #TILE_END]
    ldr     r2, [r0, #TILE_MIDDLE]
    str     r1, [sp, #F_END]
    str     r2, [sp, #F_MIDDLE]
    ldr     r1, [r0, #TILE_MIN]
    ldr     r2, [r0, #TILE_MAX]
    str     r1, [sp, #F_MIN]
    str     r2, [sp, #F_MAX]
    ldr     r1, [r0, #TILE_STREAM]
    .endm

/* And its end. */
    .macro end name
    add     sp, sp, #FRAME
    return_all
    .ltorg
    .size \name, . - \name
    .endm

/* r1 at a channel: its bias is read, lr is the end of its weights, r12 the lanes, r0 the pixels.
 * r4 is the bias, r5 the same as the sum of a pair of words. */
    .macro start_channel
    ldm     r1!, {r4}
    ldr     r0, [sp, #F_PIXELS]
    ldr     r5, [sp, #F_ROW_BYTES]
    adds    r5, r5, r1
    mov     lr, r5
    ldr     r5, =LANES
    mov     r12, r5
    lsls    r5, r4, #16
    adds    r5, r5, r4
    .endm

/* Products of two taps in the halves of \sum to an accumulator. Changes r2. */
    .macro split sum, upper, whole
    add     \sum, r12
    lsrs    r2, \sum, #16
    add     \upper, r2
    add     \whole, \sum
    .endm

/* Weights of the word r3, sign-extended: the first to r2, */
    .macro weight0
    sxtb    r2, r3
    .endm
/* the second to r2, */
    .macro weight1
    lsls    r2, r3, #16
    asrs    r2, r2, #24
    .endm
/* the third to r2, */
    .macro weight2
    lsls    r2, r3, #8
    asrs    r2, r2, #24
    .endm
/* the last in place of the word. */
    .macro weight3
    asrs    r3, r3, #24
    .endm

/*
 * r1 behind a channel's weights: its numbers to r2 (limit and low), r4 (high), r5 (low), r12
 * (limit), lr (offset), r7 (kink); r6 is where its first result goes, r1 the step from there on.
 * The flags compare the kink with 0.
 */
    .macro numbers
    ldm     r1!, {r2, r4, r5, r7}
    str     r1, [sp, #F_STREAM]
    mov     lr, r5
    lsrs    r3, r2, #13
    mov     r12, r3
    lsls    r5, r2, #19
    lsrs    r5, r5, #19
    ldr     r6, [sp, #F_OUTPUT]
    adds    r3, r6, #1
    str     r3, [sp, #F_OUTPUT]
    ldr     r1, [sp, #F_STEP]
    cmp     r7, #0
    .endm

/* The lower pixel of a pair to r2. Changes r3. */
    .macro lower upper, whole
    mov     r3, \upper
    mov     r2, \whole
    lsls    r3, r3, #16
    subs    r2, r2, r3
    .endm
/* The upper pixel to r2. */
    .macro upper upper
    mov     r2, \upper
    .endm

/* r2 requantized to the byte at r6. \id is unique; \kinked: r0 is the middle, r7 the kink. */
    .macro store id, kinked
    scale   \id, r12, r4, r5, lr
    .if \kinked
    cmp     r2, r0
    bge     positive\id
    subs    r2, r2, r7
positive\id:
    .endif
    lsrs    r2, r2, #24
stored\id:
    strb    r2, [r6]
    .endm

/* The next channel at \again, or on behind the last one. */
    .macro next again
    ldr     r1, [sp, #F_STREAM]
    ldr     r2, [sp, #F_END]
    cmp     r1, r2
    beq     8f
    b       \again
8:
    .endm

/* r2 (word 0) and r4 (multiplier) of a channel whose \count sums are in F_SUMS. */
    .macro requantize_long count
    movs    r3, #\count
    lsls    r3, r3, #8
    orrs    r3, r3, r2
    movs    r2, r4
    add     r1, sp, #F_SUMS
    ldr     r0, [sp, #F_TILE]
    bl      cg_requantize_s8_v6m
    ldr     r1, [sp, #F_STEP]
    ldr     r3, [sp, #F_SUMS]
    strb    r3, [r6]
    adds    r6, r6, r1
    ldr     r3, [sp, #(F_SUMS + 4)]
    strb    r3, [r6]
    .endm

/* A pair's sums to F_SUMS + \at. Changes r3, r5, r7. */
    .macro keep_sums at, upper, whole
    mov     r5, \upper
    mov     r3, \whole
    lsls    r7, r5, #16
    subs    r3, r3, r7
    str     r3, [sp, #(F_SUMS + \at)]
    str     r5, [sp, #(F_SUMS + \at + 4)]
    .endm

/* ---- four pixels ---------------------------------------------------------------------- */

/* Four results of a channel the short way, then the next channel. \kinked: as of store. */
    .macro results4 kinked
    lower   r8, r9
    store   a\kinked, \kinked
    adds    r6, r6, r1
    upper   r8
    store   b\kinked, \kinked
    adds    r6, r6, r1
    lower   r10, r11
    store   c\kinked, \kinked
    ldr     r1, [sp, #F_LAST_STEP]
    adds    r6, r6, r1
    upper   r10
    store   d\kinked, \kinked
    next    channel4
    .endm

/* Saturates four results, for sums outside the limit. */
    .macro saturated4 kinked
    saturate a\kinked
    saturate b\kinked
    saturate c\kinked
    saturate d\kinked
    .endm

/* void cg_tile4_s8_v6m(const cg_tile_v6m *tile, int8_t *output, int32_t step, int32_t last_step) */
    begin   cg_tile4_s8_v6m
    b       channel4
5:  /* where conditional branches do not reach */
    b       2f
6:
    b       3f
channel4:
    start_channel
    mov     r8, r4
    mov     r10, r4
    mov     r9, r5
    mov     r11, r5
1:
    ldm     r1!, {r3}
    ldm     r0!, {r4-r7}
    weight0
    muls    r4, r2, r4
    muls    r5, r2, r5
    weight1
    muls    r6, r2, r6
    muls    r7, r2, r7
    adds    r4, r4, r6
    adds    r5, r5, r7
    split   r4, r8, r9
    split   r5, r10, r11
    ldm     r0!, {r4-r7}
    weight2
    muls    r4, r2, r4
    muls    r5, r2, r5
    weight3
    muls    r6, r3, r6
    muls    r7, r3, r7
    adds    r4, r4, r6
    adds    r5, r5, r7
    split   r4, r8, r9
    split   r5, r10, r11
    cmp     r1, lr
    bne     1b
    numbers
    bmi     5b
    bne     6b
    results4 0
    b       9f
    saturated4 0
3:
    ldr     r0, [sp, #F_MIDDLE]
    results4 1
    b       9f
    saturated4 1
2:
    keep_sums 0, r8, r9
    keep_sums 8, r10, r11
    requantize_long 4
    adds    r6, r6, r1
    ldr     r3, [sp, #(F_SUMS + 8)]
    strb    r3, [r6]
    ldr     r1, [sp, #F_LAST_STEP]
    adds    r6, r6, r1
    ldr     r3, [sp, #(F_SUMS + 12)]
    strb    r3, [r6]
    next    channel4
9:
    end     cg_tile4_s8_v6m

/* ---- two pixels ----------------------------------------------------------------------- */

/* Results of two pixels, as results4 of four. */
    .macro results2 kinked
    lower   r8, r9
    store   e\kinked, \kinked
    adds    r6, r6, r1
    upper   r8
    store   f\kinked, \kinked
    next    channel2
    .endm

/* Saturates two results, for sums outside the limit. */
    .macro saturated2 kinked
    saturate e\kinked
    saturate f\kinked
    .endm

/* void cg_tile2_s8_v6m(const cg_tile_v6m *tile, int8_t *output, int32_t step) */
    begin   cg_tile2_s8_v6m
    b       channel2
5:  /* where conditional branches do not reach */
    b       2f
6:
    b       3f
channel2:
    start_channel
    mov     r8, r4
    mov     r9, r5
1:
    ldm     r1!, {r3}
    ldm     r0!, {r4-r7}
    weight0
    muls    r4, r2, r4
    weight1
    muls    r5, r2, r5
    adds    r4, r4, r5
    split   r4, r8, r9
    weight2
    muls    r6, r2, r6
    weight3
    muls    r7, r3, r7
    adds    r6, r6, r7
    split   r6, r8, r9
    cmp     r1, lr
    bne     1b
    numbers
    bmi     5b
    bne     6b
    results2 0
    b       9f
    saturated2 0
3:
    ldr     r0, [sp, #F_MIDDLE]
    results2 1
    b       9f
    saturated2 1
2:
    keep_sums 0, r8, r9
    requantize_long 2
    next    channel2
9:
    end     cg_tile2_s8_v6m
