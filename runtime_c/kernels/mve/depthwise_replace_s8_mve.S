@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_replace_s8_mve.S -- 16 channels of an image that depthwise results replace, Helium
 * (contract: cg_kernels_mve.h).
 *
 * A word of a column holds the last four rows of one channel, the newest one in its last byte. VLD4
 * and VST4 one register apart take in a row: 12 instructions a column of sixteen channels; then
 * results as in depthwise_stripe_s8_mve.S, whose row of the image is not needed any more.
 * The instruction model is in codegen/kernels/mve/price.py.
 */
#include "cg_asm.inc"
    .text

#include "cg_depthwise_small_mve.inc"

/* cg_replaced_mve */
#define IMAGE       0  /* and rows */
#define INSIDE      8  /* and width */
#define PADDING     16
#define EARLY       20
#define COLUMNS     24
#define LANES       28
#define STEP        44
#define PIXELS      48 /* and output */
#define LEFT        56 /* rows of results */
#define CONSTANTS   60
#define TAKEN       64 /* channels */

/* void cg_depthwise_replace_s8_mve(const cg_depthwise_small_mve *layer, cg_replaced_mve *plane) */
    .balign 4
    entry        cg_depthwise_replace_s8_mve
    enter        /* constants, channels of a pixel, layer, rounding */
    ldr          r2, [r12, #CONSTANTS]
    ldr          r3, [r0, #CHANNELS]
    strd         r2, r3, [sp]
    ldr          r4, [r0, #ROUNDING]
    strd         r0, r4, [sp, #8]
    ldr          r11, [r0, #OUT_ZERO]
.Lrow:
    ldrd         r1, r4, [r12, #IMAGE]
    ldr          r7, [r12, #TAKEN]
    ldr          r2, [sp, #4]
    subs         r4, r4, #1
    itt          lt
    ldrlt        r1, [r12, #PADDING] /* a row below the image: the same pixel, again and again */
    movlt        r2, #0
    ldrd         r8, r5, [r12, #INSIDE]
    vctp.8       r7
    wls          lr, r5, 2f
1:  vpst
    vldrbt.u8    q4, [r1]
    add          r1, r1, r2
    vld40.8      {q0, q1, q2, q3}, [r8]
    vld41.8      {q0, q1, q2, q3}, [r8]
    vld42.8      {q0, q1, q2, q3}, [r8]
    vld43.8      {q0, q1, q2, q3}, [r8]
    vst40.8      {q1, q2, q3, q4}, [r8]
    vst41.8      {q1, q2, q3, q4}, [r8]
    vst42.8      {q1, q2, q3, q4}, [r8]
    vst43.8      {q1, q2, q3, q4}, [r8]!
    le           lr, 1b
2:  cbz          r2, 3f
    strd         r1, r4, [r12, #IMAGE]
3:  ldr          r4, [r12, #EARLY]
    subs         r4, r4, #1
    itt          ge
    strge        r4, [r12, #EARLY]
    bge          .Lrow
    ldrd         r0, r2, [sp, #8]
    ldrd         r4, r5, [r0, #ACT_MIN]
    vdup.32      q4, r4
    vdup.32      q5, r5
    ldr          r8, [r12, #COLUMNS]
    add          r0, r12, #LANES
    vldrw.u32    q6, [r0]
    vadd.i32     q6, q6, r8
    ldrd         r9, r3, [r12, #PIXELS]
    lsr          r10, r7, #2
    and          r7, r7, #3
    cmp          r2, #0
    bne          .Lnarrow
    pixels       0, STEP
.Ldone:
    ldr          r4, [r12, #LEFT]
    str          r3, [r12, #(PIXELS + 4)]
    subs         r4, r4, #1
    str          r4, [r12, #LEFT]
    bgt          .Lrow
    leave
.Lnarrow:
    pixels       1, STEP
    b            .Ldone
    .size cg_depthwise_replace_s8_mve, . - cg_depthwise_replace_s8_mve
