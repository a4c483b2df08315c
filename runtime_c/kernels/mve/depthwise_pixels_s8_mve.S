@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_pixels_s8_mve.S -- pixels in a row, depthwise, Helium (contract: cg_kernels_mve.h).
 *
 * Assembly, because gcc 12 spills: four vectors of sums leave four registers for the rest.
 *
 * Sixteen channels at a time: VMULLB/VMULLT make 16-bit products of two taps, which are added, then
 * widened and added to the sums: 23 instructions for 32 products. Eight channels or fewer at the
 * end of a pixel get 16-bit products by VMUL at once: 16 instructions for 16 products. Lanes of the
 * sums are in the order in which products come: channels 0 4 8 12, 2 6 10 14, 1 5 9 13, 3 7 11 15
 * (or 0 2 4 6, 1 3 5 7); the constants are packed in that order, and narrowing into bottom and top
 * halves restores it. Rounding: see cg_requantize_mve.inc.
 * The instruction model is in codegen/kernels/mve/price.py.
 */
#include "cg_asm.inc"
    .text

/* cg_depthwise_mve */
#define CHANNELS 4
#define PAIRS    8  /* of taps; and `odd`: one more tap, before them */
#define OUT_ZERO 16
#define ACT_MIN  20 /* and act_max */
#define ROUNDING 28

/* cg_depthwise_run_mve */
#define BASE     4
#define STEP     8 /* and output_step */
#define PIXELS   16
#define OUTPUT   20

/*
 * r0 packed constants, r1 pixel + channel, r2 offsets of taps, r3 output, r4 r5 two taps, r6 zero
 * point, r7 channels left, r8 pairs, r9 odd, r10 layer, r11 run, r12 pixels left.
 * q0 to q3 sums. `t` is "t" where loads of the image are predicated, or nothing.
 */
.macro load_one t size
    ldr          r4, [r2], #4
    add          r4, r4, r1
.ifnb \t
    vpst
.endif
    vldrb\t\().\size q4, [r4]
.endm

/* Two taps, to q4 and q5. Changes r4, r5. */
.macro load_pair t size
    ldrd         r4, r5, [r2], #8
    add          r4, r4, r1
    add          r5, r5, r1
.ifnb \t
    vpstt
.endif
    vldrb\t\().\size q4, [r4]
    vldrb\t\().\size q5, [r5]
.endm

/* Products q7 (even channels) and q4 (odd) of sixteen are added to the sums; changes q5. */
.macro add16
    vmovlb.s16   q5, q7
    vadd.i32     q0, q0, q5
    vmovlt.s16   q7, q7
    vadd.i32     q1, q1, q7
    vmovlb.s16   q5, q4
    vadd.i32     q2, q2, q5
    vmovlt.s16   q4, q4
    vadd.i32     q3, q3, q4
.endm

/* Products q4 of eight are added to the sums q0 and q1; changes q4, q5. */
.macro add8
    vmovlb.s16   q5, q4
    vadd.i32     q0, q0, q5
    vmovlt.s16   q4, q4
    vadd.i32     q1, q1, q4
.endm

/* Biases and products of all taps of sixteen channels, to q0-q3. Changes r2, r4, r5, q4-q7, lr. */
.macro sums16 t
    ldr          r2, [r11]
    vldrw.u32    q0, [r0], #16
    vldrw.u32    q1, [r0], #16
    vldrw.u32    q2, [r0], #16
    vldrw.u32    q3, [r0], #16
    cmp          r9, #0
    beq          1f
    load_one     \t, s8
    vldrb.s8     q6, [r0], #16
    vmullb.s8    q7, q4, q6
    vmullt.s8    q4, q4, q6
    add16
1:  wls          lr, r8, 3f
2:  load_pair    \t, s8
    vldrb.s8     q6, [r0], #16
    vmullb.s8    q7, q4, q6
    vmullt.s8    q4, q4, q6
    vldrb.s8     q6, [r0], #16
    vmullb.s8    q6, q5, q6
    vadd.i16     q7, q7, q6
    vldrb.s8     q6, [r0, #-16] /* again: there is no register to keep it */
    vmullt.s8    q5, q5, q6
    vadd.i16     q4, q4, q5
    add16
    le           lr, 2b
3:
.endm

/* The same of eight channels or fewer, to q0 and q1; all loads of the image are predicated. */
.macro sums8
    ldr          r2, [r11]
    vldrw.u32    q0, [r0], #16
    vldrw.u32    q1, [r0], #16
    cmp          r9, #0
    beq          1f
    load_one     t, s16
    vldrb.s16    q6, [r0], #8
    vmul.i16     q4, q4, q6
    add8
1:  wls          lr, r8, 3f
2:  load_pair    t, s16
    vldrb.s16    q6, [r0], #8
    vldrb.s16    q7, [r0], #8
    vmul.i16     q4, q4, q6
    vmul.i16     q5, q5, q7
    vadd.i16     q4, q4, q5
    add8
    le           lr, 2b
3:
.endm

/* One vector of sums, with its multipliers and shifts; changes q4 to q6. */
.macro clamped sum
    vldrw.u32    q4, [r0], #16
    vldrb.s32    q5, [r0], #4
    vqrdmulh.s32 \sum, \sum, q4
    vrshl.s32    \sum, \sum, q5
.endm

/* The same with the correction of cg_requantize_mve.inc. */
.macro narrow sum
    vldrw.u32    q4, [r0], #16
    vldrb.s32    q5, [r0], #4
    vqrdmulh.s32 \sum, \sum, q4
    vshr.s32     q6, \sum, #31
    vadd.i32     \sum, \sum, q6
    vrshl.s32    \sum, \sum, q5
.endm

/* The same with shifts to the left too; changes q7. */
.macro wide sum
    vldrw.u32    q4, [r0], #16
    vldrb.s32    q5, [r0], #4
    vmov.i32     q7, #0
    vmax.s32     q6, q5, q7
    vmin.s32     q5, q5, q7
    vshl.s32     \sum, \sum, q6
    vqrdmulh.s32 \sum, \sum, q4
    vand         q6, \sum, q5
    vshr.s32     q6, q6, #31
    vadd.i32     \sum, \sum, q6
    vrshl.s32    \sum, \sum, q5
.endm

/* A macro for each of the sums. */
.macro all kind, sums:vararg
.irp sum, \sums
    \kind        \sum
.endr
.endm

/* The sums, by the rounding; r4 and r5 are the range. */
.macro requantize sums:vararg
    ldr          r4, [r10, #ROUNDING]
    cmp          r4, #1
    beq          2f
    bgt          3f
    all          clamped, \sums
1:  ldrd         r4, r5, [r10, #ACT_MIN]
.subsection 1
2:  all          narrow, \sums
    b            1b
3:  all          wide, \sums
    b            1b
.previous
.endm

/* Sixteen sums -> sixteen results in q6. */
.macro results16
    requantize   q0, q1, q2, q3
    vqmovnb.s32  q4, q0
    vqmovnt.s32  q4, q1
    vqmovnb.s32  q5, q2
    vqmovnt.s32  q5, q3
    vqadd.s16    q4, q4, r6
    vqadd.s16    q5, q5, r6
    vqmovnb.s16  q6, q4
    vqmovnt.s16  q6, q5
    vdup.8       q7, r4
    vmax.s8      q6, q6, q7
    vdup.8       q7, r5
    vmin.s8      q6, q6, q7
.endm

/*
 * void cg_depthwise_pixels_s8_mve(const cg_depthwise_mve *layer, const cg_depthwise_run_mve *run)
 */
    .balign 4
    entry        cg_depthwise_pixels_s8_mve
    push         {r4-r11, lr}
    vpush        {d8-d15}
    mov          r10, r0
    mov          r11, r1
    ldr          r4, [r11, #BASE]
    push         {r4}
    ldrd         r12, r3, [r11, #PIXELS]
    ldrd         r8, r9, [r10, #PAIRS]
    ldr          r6, [r10, #OUT_ZERO]
.Lpixel:
    ldrd         r0, r7, [r10]
    ldr          r1, [sp]
    subs         r7, r7, #16
    blt          .Lrest
.Lblock:
    sums16
    results16
    vstrb.8      q6, [r3], #16
    add          r1, r1, #16
    subs         r7, r7, #16
    bge          .Lblock
.Lrest:
    adds         r7, r7, #16
    beq          .Lnext
    cmp          r7, #8
    ble          .Leight
    vctp.8       r7
    sums16       t
    results16
    vpst
    vstrbt.8     q6, [r3]
    add          r3, r3, r7
.Lnext:
    ldr          r1, [sp]
    ldrd         r4, r5, [r11, #STEP]
    add          r1, r1, r4
    add          r3, r3, r5
    str          r1, [sp]
    subs         r12, r12, #1
    bne          .Lpixel
    pop          {r4}
    vpop         {d8-d15}
    pop          {r4-r11, pc}
.Leight:
    vctp.16      r7
    sums8
    requantize   q0, q1
    vqmovnb.s32  q4, q0
    vqmovnt.s32  q4, q1
    vqadd.s16    q4, q4, r6
    vdup.16      q5, r4
    vmax.s16     q4, q4, q5
    vdup.16      q5, r5
    vmin.s16     q4, q4, q5
    vpst
    vstrbt.16    q4, [r3]
    add          r3, r3, r7
    b            .Lnext
    .subsection 2
    .size cg_depthwise_pixels_s8_mve, . - cg_depthwise_pixels_s8_mve
