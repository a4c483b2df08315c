@ SPDX-License-Identifier: Apache-2.0
/*
 * product3_s8_mve.S -- int8 matrix product of three pixels with requantization, Helium (contract:
 * cg_kernels_mve.h).
 *
 * Assembly, because gcc 12 makes no tail-predicated loops (DLSTP/LETP) and does not keep six sums
 * in the even registers that VMLADAVA demands.
 *
 * Three pixels x two channels: 5 loads, 6 VMLADAVA and LETP for 96 products, 0.125 instructions
 * each. Channels c and c + 2, then c + 1 and c + 3: one VMOV puts two sums into lanes 0 and 2, or 1
 * and 3, so that four channels of a pixel are requantized where they are. Rounding: see
 * cg_requantize_mve.inc. The instruction model is in codegen/kernels/mve/price.py.
 */
#include "cg_asm.inc"
    .text

#define OFFSET   r2
#define LOW      q7
#define HIGH     q2
#include "cg_requantize_mve.inc"

/* cg_group_mve */
#define COUNT    24
#define STEPS    28 /* of patches and outputs */

/* The frame. */
#define PATCH0   0
#define PATCH2   8
#define SKIP     12 /* from behind the last weights loaded to the next pair */
#define ENDS     16 /* of woven weights of whole fours of channels, and of those apart */
#define STEP     24 /* of the scales */
#define ZERO     28 /* and act_max */
#define SCALE    36
#define OUTPUT0  40
#define OUTPUT2  48
#define REST     52 /* channels left over, until they are done */
#define GROUP    56
#define GROUPS   60 /* left */
#define PRODUCT  64
#define LAST     68 /* channels of the last four */
#define FRAME    72

/* Patches r1 r3 r5, sums r0 r4 r8 of one channel and r2 r6 r10 of the other. */
.macro begin_pair
    ldm          sp, {r1, r3, r5}
    ldrd         r0, r2, [r7], #8
    mov          r4, r0
    mov          r6, r2
    mov          r8, r0
    mov          r10, r2
.endm

/* The weights of the second channel are at `second`. */
.macro multiply_pair second
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q3, [r7], #16
    vldrb.8      q2, [r5], #16
    vmladava.s8  r0, q0, q3
    vmladava.s8  r4, q1, q3
    vmladava.s8  r8, q2, q3
    vldrb.8      q3, [\second], #16
    vmladava.s8  r2, q0, q3
    vmladava.s8  r6, q1, q3
    vmladava.s8  r10, q2, q3
    letp         lr, 1b
.endm

/* Weights of two channels alternate every 16 bytes. */
.macro woven_pair
    begin_pair
    multiply_pair r7
.endm

/* One after the other. */
.macro apart_pair
    begin_pair
    add          r9, r7, r12
    multiply_pair r9
    ldr          r1, [sp, #SKIP]
    add          r7, r9, r1
.endm

/* Sums r0 r4 r8 of one channel more. */
.macro single
    ldm          sp, {r1, r3, r5}
    ldr          r0, [r7], #4
    mov          r4, r0
    mov          r8, r0
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q3, [r7], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q2, [r5], #16
    vmladava.s8  r0, q0, q3
    vmladava.s8  r4, q1, q3
    vmladava.s8  r8, q2, q3
    letp         lr, 1b
.endm

/* The sums of a pair of channels to lanes \first and \first + 2 of q4-q6, a vector a pixel. */
.macro to_lanes first
    vmov         q4[\first + 2], q4[\first], r0, r2
    vmov         q5[\first + 2], q5[\first], r4, r6
    vmov         q6[\first + 2], q6[\first], r8, r10
.endm

/* The sums of one channel to a lane of them. */
.macro to_lane lane, sum0, sum1, sum2
    vmov.32      q4[\lane], \sum0
    vmov.32      q5[\lane], \sum1
    vmov.32      q6[\lane], \sum2
.endm

/* The sums q4 q5 q6, to r4 r5 r6. */
.macro store_all kind
    \kind        q4
    vstrb.32     q4, [r4], #4
    \kind        q5
    vstrb.32     q5, [r5], #4
    \kind        q6
    vstrb.32     q6, [r6], #4
.endm

/* void cg_product3_s8_mve(const cg_product_mve *product, const cg_group_mve *pixels) */
    .balign 4
    entry        cg_product3_s8_mve
    push         {r4-r11, lr}
    vpush        {d8-d15}
    sub          sp, sp, #FRAME
    ldr          r2, [r1, #COUNT]
    strd         r1, r2, [sp, #GROUP]
    ldm          r1, {r1-r6}
    strd         r1, r2, [sp, #PATCH0]
    str          r3, [sp, #PATCH2]
    strd         r4, r5, [sp, #OUTPUT0]
    str          r6, [sp, #OUTPUT2]
    str          r0, [sp, #PRODUCT]
    ldrd         r6, r12, [r0, #CHANNELS]
    ldrd         r3, r4, [r0, #SCALE_STEP]
    ldrd         r1, r5, [r0, #ACT_MIN]
    ldr          r11, [r0, #ROUNDING]
    strd         r3, r4, [sp, #STEP]
    str          r5, [sp, #(ZERO + 4)]
    vdup.32      q7, r1
    ldr          r7, [r0, #SKIP_BYTES]
    ldrd         r3, r4, [r0, #WHOLE_BYTES]
    ldr          r5, [r0, #WEIGHT]
    str          r7, [sp, #SKIP]
    add          r3, r3, r5
    add          r4, r4, r5
    strd         r3, r4, [sp, #ENDS]
.Lgroup:
    ldrd         r7, r3, [r0] /* weight, scale */
    ldr          r4, [r0, #CHANNELS]
    str          r3, [sp, #SCALE]
    and          r4, r4, #3
    str          r4, [sp, #REST]
.Lnext:
    ldrd         r5, r6, [sp, #ENDS]
    cmp          r7, r5
    blo          .Lwoven
    cmp          r7, r6
    blo          .Lapart
    ldr          r5, [sp, #REST]
    cbnz         r5, .Lrest
    lctp
    ldrd         r9, r10, [sp, #GROUP]
    subs         r10, r10, #1
    beq          .Lleave
    str          r10, [sp, #GROUPS]
    ldrd         r9, r10, [r9, #STEPS]
    ldm          sp, {r1, r3, r5}
    add          r1, r1, r9
    add          r3, r3, r9
    add          r5, r5, r9
    stm          sp, {r1, r3, r5}
    add          r8, sp, #OUTPUT0
    ldm          r8, {r0, r2, r4}
    add          r0, r0, r10
    add          r2, r2, r10
    add          r4, r4, r10
    stm          r8, {r0, r2, r4}
    ldr          r0, [sp, #PRODUCT]
    b            .Lgroup
.Lleave:
    add          sp, sp, #FRAME
    vpop         {d8-d15}
    pop          {r4-r11, pc}

/* One to three channels: loads of their scales and stores are predicated. */
.Lrest:
    movs         r0, #0
    str          r0, [sp, #REST]
    str          r5, [sp, #LAST]
    cmp          r5, #1
    beq          .Lone
    lsls         r3, r12, #28
    bne          2f
    woven_pair
    b            3f
2:  apart_pair
3:  ldr          r5, [sp, #LAST]
    cmp          r5, #2
    bne          .Lthree
    to_lane      0, r0, r4, r8
    to_lane      1, r2, r6, r10
    b            .Lpredicate
.Lthree:
    to_lanes     0
    single
    to_lane      1, r0, r4, r8
    b            .Lpredicate
.Lone:
    single
    to_lane      0, r0, r4, r8
.Lpredicate:
    ldr          r5, [sp, #LAST]
    dlstp.32     lr, r5
    b            .Lscale

.Lapart:
    apart_pair
    to_lanes     0
    apart_pair
    to_lanes     1
    b            .Lscale

.Lwoven:
    woven_pair
    to_lanes     0
    woven_pair
    to_lanes     1
.Lscale:
    add          r10, sp, #STEP
    ldm          r10!, {r0, r2, r8} /* STEP, ZERO, the end of the range */
    ldm          r10, {r3-r6}       /* SCALE, OUTPUT0 to OUTPUT2 */
    cmp          r11, #1
    vldrw.u32    q0, [r3]
    vldrb.s32    q1, [r3, #16]
    add          r3, r3, r0
    bgt          .Lwide
    vdup.32      q2, r8
    beq          .Lnarrow
    store_all    clamped
.Lstored:
    stm          r10, {r3-r6}
    ldr          r5, [sp, #ENDS]
    cmp          r7, r5
    blo          .Lwoven
    b            .Lnext
.Lnarrow:
    store_all    narrow
    b            .Lstored
.Lwide:
    vmov.i32     q3, #0
    vmax.s32     q2, q1, q3
    vmin.s32     q1, q1, q3
    vshl.s32     q4, q4, q2
    vshl.s32     q5, q5, q2
    vshl.s32     q6, q6, q2
    vdup.32      q2, r8
    store_all    wide
    b            .Lstored
    .size cg_product3_s8_mve, . - cg_product3_s8_mve
