@ SPDX-License-Identifier: Apache-2.0
/*
 * tile_f32_fpu.S -- the inner loops of float32 convolutions on cores with a single precision FPU:
 * four or one pixels by four channels or one, straight from the image.
 *
 * Why assembly: VLDM takes the weights of several values in one instruction, and sixteen sums, the
 * weights and the pixels are all 32 registers of the FPU; gcc 12 loads one value at a time.
 * Products are rounded before they are added, value by value in the order of the weights: each sum
 * is that of cg_conv2d_f32 and cg_depthwise_conv2d_f32 bit by bit. (VFMA would round once; it also
 * takes three cycles where VMUL and VADD take two.)
 */
#include "cg_needs_fpu.h"
#include "cg_tile_f32.inc"

/* A function, which does \counter blocks, to r12. It saves r4-r11, lr and s16-s31. */
    .macro tile name, counter=BLOCKS
    frame   cg_frame_\name, 64
    function \name
    push    {r4-r11, lr}
    vpush   {s16-s31}
    ldr     r12, [r0, #\counter]
    .endm

/* The end of a function. */
    .macro leave
    vpop    {s16-s31}
    pop     {r4-r11, pc}
    .endm

/* a0..a3 += x * w0..w3, each product rounded before it is added. */
    .macro mac4 x, w0, w1, w2, w3, a0, a1, a2, a3
    vmul.f32 s12, \x, \w0
    vmul.f32 s13, \x, \w1
    vmul.f32 s14, \x, \w2
    vmul.f32 s15, \x, \w3
    vadd.f32 \a0, \a0, s12
    vadd.f32 \a1, \a1, s13
    vadd.f32 \a2, \a2, s14
    vadd.f32 \a3, \a3, s15
    .endm

/* Two values of a pixel by eight weights, s0-s7, one after the other. Changes s12-s15. */
    .macro mac2x4 x0, x1, a0, a1, a2, a3
    mac4    \x0, s0, s1, s2, s3, \a0, \a1, \a2, \a3
    mac4    \x1, s4, s5, s6, s7, \a0, \a1, \a2, \a3
    .endm

/* a0..a3 += s8..s11 * s0..s3 */
    .macro dw4 a0, a1, a2, a3
    vmul.f32 s12, s8, s0
    vmul.f32 s13, s9, s1
    vmul.f32 s14, s10, s2
    vmul.f32 s15, s11, s3
    vadd.f32 \a0, \a0, s12
    vadd.f32 \a1, \a1, s13
    vadd.f32 \a2, \a2, s14
    vadd.f32 \a3, \a3, s15
    .endm

/* a0..a3 += s0..s3, the biases. */
    .macro bias4 a0, a1, a2, a3
    vadd.f32 \a0, \a0, s0
    vadd.f32 \a1, \a1, s1
    vadd.f32 \a2, \a2, s2
    vadd.f32 \a3, \a3, s3
    .endm

/* NaN stays NaN: MI and GT do not hold for it. */
    .macro raise a
    vcmp.f32 \a, s4
    vmrs    APSR_nzcv, fpscr
    it      mi
    vmovmi.f32 \a, s4
    .endm

/* The same for the upper end: at most s5. */
    .macro lower a
    vcmp.f32 \a, s5
    vmrs    APSR_nzcv, fpscr
    it      gt
    vmovgt.f32 \a, s5
    .endm

/* The sums of one pixel, s16-s19. Changes r11. */
    .macro clear4
    movs    r11, #0
    vmov    s16, s17, r11, r11
    vmov    s18, s19, r11, r11
    .endm

/* The sums of four pixels, s16-s31. Changes r11. */
    .macro clear16
    clear4
    vmov    s20, s21, r11, r11
    vmov    s22, s23, r11, r11
    vmov    s24, s25, r11, r11
    vmov    s26, s27, r11, r11
    vmov    s28, s29, r11, r11
    vmov    s30, s31, r11, r11
    .endm

/* The activation of \sums; r8 is CLAMP. Changes r8, s4, s5 and the flags. */
    .macro activate sums:vararg
    lsrs    r8, r8, #1
    bcc     81f
    vldr    s4, [r0, #LOW]
    .irp    a, \sums
    raise   \a
    .endr
81:
    cmp     r8, #0
    beq     82f
    vldr    s5, [r0, #HIGH]
    .irp    a, \sums
    lower   \a
    .endr
82:
    .endm

/* Of sixteen sums: bias, activation, store. Changes r8-r11. */
    .macro finish16
    ldr     r11, [r0, #W_TAIL]
    add     r1, r1, r11
    vldmia  r1!, {s0-s3}
    bias4   s16, s17, s18, s19
    bias4   s20, s21, s22, s23
    bias4   s24, s25, s26, s27
    bias4   s28, s29, s30, s31
    ldrd    r11, r8, [r0, #OUT_STEP]    /* and CLAMP */
    activate s16, s17, s18, s19, s20, s21, s22, s23, s24, s25, s26, s27, s28, s29, s30, s31
    add     r8, r3, r11
    add     r9, r8, r11
    add     r10, r9, r11
    vstmia  r3!, {s16-s19}
    vstmia  r8, {s20-s23}
    vstmia  r9, {s24-s27}
    vstmia  r10, {s28-s31}
    .endm

/* Of four sums, one pixel's. Changes r8, r11. */
    .macro finish4
    ldr     r11, [r0, #W_TAIL]
    add     r1, r1, r11
    vldmia  r1!, {s0-s3}
    bias4   s16, s17, s18, s19
    ldr     r8, [r0, #CLAMP]
    activate s16, s17, s18, s19
    vstmia  r3!, {s16-s19}
    .endm

/*
 * The loops over runs (3) and over \values of each at a time (4); r8 is how many are left, less
 * \values. A row begins at 2; runs with fewer values go on at 5. Changes r8, r9.
 */
    .macro runs values
2:
    ldr     r9, [r0, #RUNS]
3:
    ldr     r8, [r0, #RUN_LEN]
    subs    r8, r8, #\values
    blt     5f
4:
    .endm

/* Ends the loop; what is left of a run, r8 values, is done from 51 on. */
    .macro rest_of_run values
    subs    r8, r8, #\values
    bge     4b
5:
    adds    r8, r8, #\values
    beq     6f
51:
    .endm

/*
 * void cg_conv4_f32_fpu(const cg_tile_fpu *tile, const float *w, const cg_f32 *x, cg_f32 *out)
 * r4-r7 pixels, r8 values left, r9 runs, r10 rows, r12 blocks
 */
    tile    cg_conv4_f32_fpu
1:
    lead
    pixels4 lr
    clear16
    rows
    runs    2
    vldmia  r1!, {s0-s7}
    vldmia  r4!, {s8, s9}
    mac2x4  s8, s9, s16, s17, s18, s19
    vldmia  r5!, {s10, s11}
    mac2x4  s10, s11, s20, s21, s22, s23
    vldmia  r6!, {s8, s9}
    mac2x4  s8, s9, s24, s25, s26, s27
    vldmia  r7!, {s10, s11}
    mac2x4  s10, s11, s28, s29, s30, s31
    subs    r8, r8, #2
    bge     4b
5:
    adds    r8, r8, #1
    bne     6f
    vldmia  r1!, {s0-s3}
    vldmia  r4!, {s8}
    mac4    s8, s0, s1, s2, s3, s16, s17, s18, s19
    vldmia  r5!, {s9}
    mac4    s9, s0, s1, s2, s3, s20, s21, s22, s23
    vldmia  r6!, {s10}
    mac4    s10, s0, s1, s2, s3, s24, s25, s26, s27
    vldmia  r7!, {s11}
    mac4    s11, s0, s1, s2, s3, s28, s29, s30, s31
6:
    finish_run step4
    finish_row step4, r11
7:
    finish16
    finish_block cg_conv4_f32_fpu, step4, r11

/* void cg_conv1_f32_fpu(...): the same of one pixel, r4; four values of it at a time. */
    tile    cg_conv1_f32_fpu
1:
    lead
    mov     r4, r2
    clear4
    rows
    runs    4
    vldmia  r4!, {s20-s23}
    vldmia  r1!, {s0-s7}
    mac4    s20, s0, s1, s2, s3, s16, s17, s18, s19
    mac4    s21, s4, s5, s6, s7, s16, s17, s18, s19
    vldmia  r1!, {s24-s31}
    mac4    s22, s24, s25, s26, s27, s16, s17, s18, s19
    mac4    s23, s28, s29, s30, s31, s16, s17, s18, s19
    rest_of_run 4
    vldmia  r1!, {s0-s3}
    vldmia  r4!, {s8}
    mac4    s8, s0, s1, s2, s3, s16, s17, s18, s19
    subs    r8, r8, #1
    bne     51b
6:
    finish_run step1
    finish_row step1, r11
7:
    finish4
    finish_block cg_conv1_f32_fpu, step1, r11

/* a0..a3 += x0..x3 * w, of one channel. */
    .macro single4 w, x0, x1, x2, x3
    vmul.f32 s12, \x0, \w
    vmul.f32 s13, \x1, \w
    vmul.f32 s14, \x2, \w
    vmul.f32 s15, \x3, \w
    vadd.f32 s8, s8, s12
    vadd.f32 s9, s9, s13
    vadd.f32 s10, s10, s14
    vadd.f32 s11, s11, s15
    .endm

/* Weights of one channel lie a quarter as far apart. Changes r11. */
    .macro skip_weights field
    ldr     r11, [r0, #\field]
    add     r1, r1, r11, asr #2
    .endm

/* As finish_row, for one channel. Changes r11. */
    .macro finish_row_of_one step
    ldr     r11, [r0, #X_ROW_GAP]
    \step   r11
    skip_weights W_ROW_GAP
    next_row
    .endm

/*
 * void cg_single4_f32_fpu(...): four pixels by one channel, SINGLES times, r12; sums are s8-s11.
 * Each channel is written before the next one is read.
 */
    tile    cg_single4_f32_fpu, SINGLES
1:
    skip_weights W_LEAD
    pixels4 lr
    movs    r11, #0
    vmov    s8, s9, r11, r11
    vmov    s10, s11, r11, r11
    rows
    runs    4
    vldmia  r1!, {s0-s3}
    vldmia  r4!, {s16-s19}
    vldmia  r5!, {s20-s23}
    vldmia  r6!, {s24-s27}
    vldmia  r7!, {s28-s31}
    single4 s0, s16, s20, s24, s28
    single4 s1, s17, s21, s25, s29
    single4 s2, s18, s22, s26, s30
    single4 s3, s19, s23, s27, s31
    rest_of_run 4
    vldmia  r1!, {s0}
    vldmia  r4!, {s16}
    vldmia  r5!, {s20}
    vldmia  r6!, {s24}
    vldmia  r7!, {s28}
    single4 s0, s16, s20, s24, s28
    subs    r8, r8, #1
    bne     51b
6:
    finish_run step4
    finish_row_of_one step4
7:
    skip_weights W_TAIL
    vldmia  r1!, {s0}
    vadd.f32 s8, s8, s0
    vadd.f32 s9, s9, s0
    vadd.f32 s10, s10, s0
    vadd.f32 s11, s11, s0
    ldrd    r11, r8, [r0, #OUT_STEP]    /* and CLAMP */
    activate s8, s9, s10, s11
    add     r8, r3, r11
    add     r9, r8, r11
    add     r10, r9, r11
    vstmia  r3!, {s8}
    vstr    s9, [r8]
    vstr    s10, [r9]
    vstr    s11, [r10]
    finish_block cg_single4_f32_fpu, step4, r11

/* void cg_single1_f32_fpu(...): the same of one pixel; its sum is s8. */
    tile    cg_single1_f32_fpu, SINGLES
1:
    skip_weights W_LEAD
    mov     r4, r2
    movs    r11, #0
    vmov    s8, r11
    rows
    runs    4
    vldmia  r1!, {s0-s3}
    vldmia  r4!, {s16-s19}
    vmul.f32 s12, s16, s0
    vmul.f32 s13, s17, s1
    vmul.f32 s14, s18, s2
    vmul.f32 s15, s19, s3
    vadd.f32 s8, s8, s12
    vadd.f32 s8, s8, s13
    vadd.f32 s8, s8, s14
    vadd.f32 s8, s8, s15
    rest_of_run 4
    vldmia  r1!, {s0}
    vldmia  r4!, {s16}
    vmul.f32 s12, s16, s0
    vadd.f32 s8, s8, s12
    subs    r8, r8, #1
    bne     51b
6:
    finish_run step1
    finish_row_of_one step1
7:
    skip_weights W_TAIL
    vldmia  r1!, {s0}
    vadd.f32 s8, s8, s0
    ldr     r8, [r0, #CLAMP]
    activate s8
    vstmia  r3!, {s8}
    finish_block cg_single1_f32_fpu, step1, r11

/*
 * void cg_dw4_f32_fpu(...): each channel by weights of its own; x moves on with the channels. A run
 * is the taps of a row, X_GAP from tap to tap; RUNS plays no part. Of the four channels of a block
 * all taps are read before a result is written.
 */
    tile    cg_dw4_f32_fpu
1:
    lead
    pixels4 lr
    clear16
    rows_of_taps
2:
    ldr     r8, [r0, #RUN_LEN]
4:
    vldmia  r1!, {s0-s3}
    vldmia  r4, {s8-s11}
    dw4     s16, s17, s18, s19
    vldmia  r5, {s8-s11}
    dw4     s20, s21, s22, s23
    vldmia  r6, {s8-s11}
    dw4     s24, s25, s26, s27
    vldmia  r7, {s8-s11}
    dw4     s28, s29, s30, s31
    step4   r11
    subs    r8, r8, #1
    bne     4b
    finish_row step4, lr
7:
    finish16
    finish_channels cg_dw4_f32_fpu, step4, lr

    tile    cg_dw1_f32_fpu
1:
    lead
    mov     r4, r2
    clear4
    rows_of_taps
2:
    ldr     r8, [r0, #RUN_LEN]
4:
    vldmia  r1!, {s0-s3}
    vldmia  r4, {s8-s11}
    add     r4, r4, r11
    dw4     s16, s17, s18, s19
    subs    r8, r8, #1
    bne     4b
    finish_row step1, lr
7:
    finish4
    finish_channels cg_dw1_f32_fpu, step1, lr
