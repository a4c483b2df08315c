@ SPDX-License-Identifier: Apache-2.0
/*
 * tile_f32_mve.S -- the inner loops of float32 convolutions with float Helium: four or one pixels by
 * four channels, a vector of sums a pixel. Same contract and weights as tile_f32_fpu.S, whose loops
 * for single channels go with these.
 *
 * Why assembly: LDRD and LDM bring several values of a pixel in one instruction, and DLS with LE
 * loops without a counter of its own; gcc 12 does neither. Products are rounded before they are
 * added, in order.
 */
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#include "cg_tile_f32.inc"

/* A function saves r4-r11, lr, q4-q7, and keeps a word for the runs left. */
    .equ LOCALS, 4

/* A function; its blocks to r12. */
    .macro tile name
    frame   cg_frame_\name, 64 + LOCALS
    function \name
    push    {r4-r11, lr}
    vpush   {d8-d15}
    sub     sp, sp, #LOCALS
    ldr     r12, [r0, #BLOCKS]
    .endm

/* The end of a function. */
    .macro leave
    add     sp, sp, #LOCALS
    vpop    {d8-d15}
    pop     {r4-r11, pc}
    .endm

/* The sums of four pixels, q0-q3. */
    .macro clear4
    vmov.i32 q0, #0
    vmov.i32 q1, #0
    vmov.i32 q2, #0
    vmov.i32 q3, #0
    .endm

/* sum += r8 * q4 + r9 * q5, one after the other. */
    .macro pair pixel, sum
    ldrd    r8, r9, [\pixel], #8
    vmul.f32 q6, q4, r8
    vmul.f32 q7, q5, r9
    vadd.f32 \sum, \sum, q6
    vadd.f32 \sum, \sum, q7
    .endm

/* sum += the pixel's next value * q4. Changes r8, q6. */
    .macro single pixel, sum
    ldr     r8, [\pixel], #4
    vmul.f32 q6, q4, r8
    vadd.f32 \sum, \sum, q6
    .endm

/* sum += four values of the pixel * q4, which moves on by r11. Changes q5, q6. */
    .macro tap pixel, sum
    vldrw.u32 q5, [\pixel]
    add     \pixel, \pixel, r11
    vmul.f32 q6, q4, q5
    vadd.f32 \sum, \sum, q6
    .endm

/* Greater than does not hold for NaN, which so stays. */
    .macro raise sum
    vpt.f32 gt, q5, \sum
    vmovt   \sum, q5
    .endm

/* Clamps at the upper end, q5. */
    .macro lower sum
    vpt.f32 gt, \sum, q5
    vmovt   \sum, q5
    .endm

/* Bias and activation of `sums`. r8: CLAMP. */
    .macro activate sums:vararg
    ldr     r11, [r0, #W_TAIL]
    add     r1, r1, r11
    vldrw.u32 q4, [r1], #16
    .irp    sum, \sums
    vadd.f32 \sum, \sum, q4
    .endr
    ldr     r8, [r0, #CLAMP]
    lsrs    r8, r8, #1
    bcc     81f
    ldr     r11, [r0, #LOW]
    vdup.32 q5, r11
    .irp    sum, \sums
    raise   \sum
    .endr
81:
    cmp     r8, #0
    beq     82f
    ldr     r11, [r0, #HIGH]
    vdup.32 q5, r11
    .irp    sum, \sums
    lower   \sum
    .endr
82:
    .endm

/* The sums q0-q3 to four results. r3 moves on. Changes r8-r11. */
    .macro store4
    ldr     r11, [r0, #OUT_STEP]
    add     r8, r3, r11
    add     r9, r8, r11
    add     r10, r9, r11
    vstrw.32 q0, [r3], #16
    vstrw.32 q1, [r8]
    vstrw.32 q2, [r9]
    vstrw.32 q3, [r10]
    .endm

/* r4-r7 pixels, lr pairs of values left, r10 rows, r12 blocks, [sp] runs */
    tile    cg_conv4_f32_mve
1:
    lead
    pixels4 r11
    clear4
    rows
2:
    ldr     r8, [r0, #RUNS]
3:
    str     r8, [sp]
    ldr     r11, [r0, #RUN_LEN]
    lsrs    lr, r11, #1
    beq     5f
    dls     lr, lr
4:
    vldrw.u32 q4, [r1], #16
    vldrw.u32 q5, [r1], #16
    pair    r4, q0
    pair    r5, q1
    pair    r6, q2
    pair    r7, q3
    le      lr, 4b
5:
    tst     r11, #1
    beq     6f
    vldrw.u32 q4, [r1], #16
    single  r4, q0
    single  r5, q1
    single  r6, q2
    single  r7, q3
6:
    ldr     r11, [r0, #X_GAP]
    step4   r11
    ldr     r8, [sp]
    subs    r8, r8, #1
    bne     3b
    finish_row step4, r11
7:
    activate q0, q1, q2, q3
    store4
    finish_block cg_conv4_f32_mve, step4, r11

/* One pixel, r4; four values of it, r5-r8, at a time. */
    tile    cg_conv1_f32_mve
1:
    lead
    mov     r4, r2
    vmov.i32 q0, #0
    rows
2:
    ldr     r9, [r0, #RUNS]
3:
    ldr     r11, [r0, #RUN_LEN]
    lsrs    lr, r11, #2
    beq     5f
    dls     lr, lr
4:
    ldm     r4!, {r5-r8}
    vldrw.u32 q1, [r1], #16
    vmul.f32 q4, q1, r5
    vldrw.u32 q2, [r1], #16
    vmul.f32 q5, q2, r6
    vldrw.u32 q1, [r1], #16
    vmul.f32 q6, q1, r7
    vldrw.u32 q2, [r1], #16
    vmul.f32 q7, q2, r8
    vadd.f32 q0, q0, q4
    vadd.f32 q0, q0, q5
    vadd.f32 q0, q0, q6
    vadd.f32 q0, q0, q7
    le      lr, 4b
5:
    ands    lr, r11, #3
    beq     6f
    dls     lr, lr
51:
    vldrw.u32 q4, [r1], #16
    single  r4, q0
    le      lr, 51b
6:
    finish_run step1
    finish_row step1, r11
7:
    activate q0
    vstrw.32 q0, [r3], #16
    finish_block cg_conv1_f32_mve, step1, r11

    tile    cg_dw4_f32_mve
1:
    lead
    pixels4 r11
    clear4
    rows_of_taps
2:
    ldr     lr, [r0, #RUN_LEN]
    dls     lr, lr
4:
    vldrw.u32 q4, [r1], #16
    tap     r4, q0
    tap     r5, q1
    tap     r6, q2
    tap     r7, q3
    le      lr, 4b
    finish_row step4, r8
7:
    activate q0, q1, q2, q3
    store4
    finish_channels cg_dw4_f32_mve, step4, r8

    tile    cg_dw1_f32_mve
1:
    lead
    mov     r4, r2
    vmov.i32 q0, #0
    rows_of_taps
2:
    ldr     lr, [r0, #RUN_LEN]
    dls     lr, lr
4:
    vldrw.u32 q4, [r1], #16
    tap     r4, q0
    le      lr, 4b
    finish_row step1, r8
7:
    activate q0
    vstrw.32 q0, [r3], #16
    finish_channels cg_dw1_f32_mve, step1, r8
