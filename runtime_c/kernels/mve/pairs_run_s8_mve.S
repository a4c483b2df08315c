@ SPDX-License-Identifier: Apache-2.0
/*
 * pairs_run_s8_mve.S -- runs of MAXIMUM, MINIMUM, MUL and PRELU on int8, Helium (contract:
 * cg_pairs_mve.h): 5 instructions for 16 elements, 14 and 17 for four. Rounding: see
 * cg_requantize_mve.inc.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

#define SHAPE 60 /* bytes of the cg_broadcast that parameters begin with */

    function     cg_extreme_s8_mve_run
    ldr          r12, [sp]
    push         {r4, lr}
    ldr          r4, [r0, #SHAPE] /* kind */
    cmp          r4, #0
    bne          2f
    dlstp.8      lr, r12
1:  vldrb.u8     q0, [r1], #16
    vldrb.u8     q1, [r2], #16
    vmax.s8      q0, q0, q1
    vstrb.8      q0, [r3], #16
    letp         lr, 1b
    pop          {r4, pc}
2:  dlstp.8      lr, r12
3:  vldrb.u8     q0, [r1], #16
    vldrb.u8     q1, [r2], #16
    vmin.s8      q0, q0, q1
    vstrb.8      q0, [r3], #16
    letp         lr, 3b
    pop          {r4, pc}
    .size cg_extreme_s8_mve_run, . - cg_extreme_s8_mve_run

/* Sums times r6, by r7 to the right, plus r8. Changes `other`. */
.macro scaled sums, other
    vqrdmulh.s32 \sums, \sums, r6
    vshr.s32     \other, \sums, #31
    vadd.i32     \sums, \sums, \other
    vrshl.s32    \sums, r7
    vadd.i32     \sums, \sums, r8
.endm

    function     cg_mul_s8_mve_run
    ldr          r12, [sp]
    push         {r4-r10, lr}
    adds         r0, r0, #SHAPE
    ldm          r0, {r4-r10} /* offsets, multiplier, shift, zero point, range */
    vdup.32      q2, r9
    vdup.32      q3, r10
    dlstp.32     lr, r12
1:  vldrb.s32    q0, [r1], #4
    vldrb.s32    q1, [r2], #4
    vadd.i32     q0, q0, r4
    vadd.i32     q1, q1, r5
    vmul.i32     q0, q0, q1
    scaled       q0, q1
    vmax.s32     q0, q0, q2
    vmin.s32     q0, q0, q3
    vstrb.32     q0, [r3], #4
    letp         lr, 1b
    pop          {r4-r10, pc}
    .size cg_mul_s8_mve_run, . - cg_mul_s8_mve_run

    function     cg_prelu_s8_mve_run
    ldr          r12, [sp]
    push         {r4-r10, lr}
    vpush        {d8-d11}
    adds         r0, r0, #SHAPE
    ldm          r0, {r4-r9} /* offsets, multiplier, shift, zero point, positive */
    mvn          r10, #127
    vdup.32      q3, r10
    movs         r10, #127
    vdup.32      q4, r10
    movs         r10, #128
    movs         r0, #0
    dlstp.32     lr, r12
1:  vldrb.s32    q0, [r1], #4
    vldrb.s32    q1, [r2], #4
    vadd.i32     q5, q0, r10
    vadd.i32     q0, q0, r4
    vldrb.s32    q2, [r9, q5]
    vadd.i32     q1, q1, r5
    vcmp.s32     ge, q0, r0
    vmul.i32     q1, q0, q1
    scaled       q1, q0
    vmax.s32     q1, q1, q3
    vmin.s32     q1, q1, q4
    vpsel        q1, q2, q1
    vstrb.32     q1, [r3], #4
    letp         lr, 1b
    vpop         {d8-d11}
    pop          {r4-r10, pc}
    .size cg_prelu_s8_mve_run, . - cg_prelu_s8_mve_run
