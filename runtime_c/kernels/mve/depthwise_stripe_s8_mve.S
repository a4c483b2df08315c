@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_stripe_s8_mve.S -- a stripe of pixels of one row, depthwise with a window of at most 3
 * rows and 4 columns, Helium (contract: cg_kernels_mve.h).
 *
 * Sixteen channels at a time. Columns of the image are interleaved first (VST4): of each channel
 * the bytes of its rows, the fourth one of no account, 64 bytes a column. Then the window of one
 * channel is four words, one a column: a gathering load, one VMLADAVA with weights in that order.
 * Three instructions instead of nine times two thirds (depthwise_pixels_s8_mve.S) a result; with
 * requantization 25 for four results, and 12 a column of sixteen channels.
 * Assembly, because gcc 12 does not gather by a vector of addresses that it advances. Rounding: see
 * cg_requantize_mve.inc. The instruction model is in codegen/kernels/mve/price.py.
 */
#include "cg_asm.inc"
    .text

#include "cg_depthwise_small_mve.inc"

/* cg_stripe_mve */
#define ROWS        0  /* and steps */
#define BLOCK_STEPS 24
#define LEFT        36 /* and inside */
#define RIGHT       44
#define IN_ZERO     48
#define COLUMNS     52
#define LANES       56
#define STEP        72 /* of columns from pixel to pixel */
#define PIXELS      76
#define OUTPUT      80

/* r5 columns of padding, q0 four times. */
.macro padding
    wls          lr, r5, 2f
1:  vstrw.32     q0, [r8], #16
    vstrw.32     q0, [r8], #16
    vstrw.32     q0, [r8], #16
    vstrw.32     q0, [r8], #16
    le           lr, 1b
2:
.endm

/* void cg_depthwise_stripe_s8_mve(const cg_depthwise_small_mve *layer, cg_stripe_mve *stripe) */
    .balign 4
    entry        cg_depthwise_stripe_s8_mve
    enter        /* constants of the block, channels, channels left, rounding */
    ldrd         r2, r3, [r0, #STREAM]
    strd         r2, r3, [sp]
    ldr          r11, [r0, #OUT_ZERO]
    ldrd         r4, r5, [r0, #ACT_MIN]
    vdup.32      q4, r4
    vdup.32      q5, r5
    ldr          r4, [r0, #ROUNDING]
    strd         r3, r4, [sp, #8]
.Lblock:
    ldr          r7, [sp, #8]
    ldr          r9, [r12, #IN_ZERO]
    cmp          r7, #16
    it           gt
    movgt        r7, #16
    ldr          r8, [r12, #COLUMNS]
    vdup.8       q0, r9
    ldrd         r5, r10, [r12, #LEFT]
    padding
    add          r0, r12, #ROWS
    ldm          r0, {r1-r6}
    vctp.8       r7
    wls          lr, r10, 2f
1:  vpsttt
    vldrbt.u8    q0, [r1]
    vldrbt.u8    q1, [r2]
    vldrbt.u8    q2, [r3]
    add          r1, r1, r4
    add          r2, r2, r5
    add          r3, r3, r6
    vst40.8      {q0, q1, q2, q3}, [r8]
    vst41.8      {q0, q1, q2, q3}, [r8]
    vst42.8      {q0, q1, q2, q3}, [r8]
    vst43.8      {q0, q1, q2, q3}, [r8]!
    le           lr, 1b
2:  vdup.8       q0, r9
    ldr          r5, [r12, #RIGHT]
    padding
    ldm          r0, {r1-r3}
    add          r8, r12, #BLOCK_STEPS
    ldm          r8, {r4-r6}
    add          r1, r1, r4
    add          r2, r2, r5
    add          r3, r3, r6
    stm          r0, {r1-r3}
    add          r0, r12, #LANES
    vldrw.u32    q6, [r0]
    ldr          r8, [r12, #COLUMNS]
    vadd.i32     q6, q6, r8
    ldrd         r9, r3, [r12, #PIXELS]
    add          r5, r3, #16
    str          r5, [r12, #OUTPUT]
    lsr          r10, r7, #2
    and          r7, r7, #3
    ldr          r5, [sp, #12]
    cmp          r5, #0
    bne          .Lnarrow
    pixels       0, STEP
.Ldone:
    ldr          r5, [sp, #8]
    str          r1, [sp]
    subs         r5, r5, #16
    str          r5, [sp, #8]
    bgt          .Lblock
    leave
.Lnarrow:
    pixels       1, STEP
    b            .Ldone
    .size cg_depthwise_stripe_s8_mve, . - cg_depthwise_stripe_s8_mve
