@ SPDX-License-Identifier: Apache-2.0
/*
 * gated_f32_fpu.S -- products and curves of gates, float32, on cores with a single precision FPU
 * (contract: cg_gated_parts.h).
 *
 * Why assembly: VLDM takes sixteen weights or eight values in one instruction, and a curve's ten
 * numbers stay in registers; gcc 12 loads one at a time. Products are rounded before they are added:
 * results are those of the C in cg_gated_parts.h bit by bit.
 */
#include "cg_needs_fpu.h"
#include "cg_asm.inc"

/* s24-s27 += x * w0..w3, each product rounded before it is added. Changes s28-s31. */
    .macro value x, w0, w1, w2, w3
    vmul.f32 s28, \x, \w0
    vmul.f32 s29, \x, \w1
    vmul.f32 s30, \x, \w2
    vmul.f32 s31, \x, \w3
    vadd.f32 s24, s24, s28
    vadd.f32 s25, s25, s29
    vadd.f32 s26, s26, s30
    vadd.f32 s27, s27, s31
    .endm

/* Four values by the sixteen weights at r0, which moves on. */
    .macro values4 x0, x1, x2, x3
    vldmia  r0!, {s0-s15}
    value   \x0, s0, s1, s2, s3
    value   \x1, s4, s5, s6, s7
    value   \x2, s8, s9, s10, s11
    value   \x3, s12, s13, s14, s15
    .endm

/*
 * void cg_gated_rows_f32_fpu(const float *weights, const float *from, const cg_f32 *x, cg_f32 *to,
 *                            int32_t count, int32_t blocks): r5 values left, r6 all, r7 blocks left.
 */
    frame   cg_frame_cg_gated_rows_f32_fpu, 64, 20
    function cg_gated_rows_f32_fpu
    push    {r4-r7, lr}
    vpush   {s16-s31}
    ldrd    r6, r7, [sp, #84]
1:
    vldmia  r1!, {s24-s27}
    mov     r4, r2
    subs    r5, r6, #8
    blt     3f
2:
    vldmia  r4!, {s16-s23}
    values4 s16, s17, s18, s19
    values4 s20, s21, s22, s23
    subs    r5, r5, #8
    bge     2b
3:
    adds    r5, r5, #8
    beq     5f
4:
    vldmia  r0!, {s0-s3}
    vldmia  r4!, {s16}
    value   s16, s0, s1, s2, s3
    subs    r5, r5, #1
    bne     4b
5:
    vstmia  r3!, {s24-s27}
    subs    r7, r7, #1
    bne     1b
    vpop    {s16-s31}
    pop     {r4-r7, pc}
    .size   cg_gated_rows_f32_fpu, . - cg_gated_rows_f32_fpu

/*
 * void cg_gated_curve_f32_fpu(const cg_gated_curve *curve, const float *limit, cg_f32 *values,
 *                             int32_t count): s4-s8 P, s9-s12 Q, s13 the middle; magnitudes are
 * compared as integers, r1 is the limit's. A NaN is above it.
 */
    frame   cg_frame_cg_gated_curve_f32_fpu, 0, 0
    function cg_gated_curve_f32_fpu
    vldmia  r0, {s4-s13}
    ldr     r1, [r1]
1:
    ldr     r0, [r2]
    bic     r12, r0, #0x80000000
    cmp     r12, r1
    bgt     3f
2:
    vmov    s0, r0
    vmul.f32 s1, s0, s0
    vmul.f32 s2, s1, s4
    vadd.f32 s3, s1, s9
    vadd.f32 s2, s2, s5
    vmul.f32 s3, s3, s1
    vmul.f32 s2, s2, s1
    vadd.f32 s3, s3, s10
    vadd.f32 s2, s2, s6
    vmul.f32 s3, s3, s1
    vmul.f32 s2, s2, s1
    vadd.f32 s3, s3, s11
    vadd.f32 s2, s2, s7
    vmul.f32 s3, s3, s1
    vmul.f32 s2, s2, s1
    vadd.f32 s3, s3, s12
    vadd.f32 s2, s2, s8
    vmul.f32 s2, s2, s0
    vdiv.f32 s2, s2, s3
    vadd.f32 s2, s2, s13
    vstmia  r2!, {s2}
    subs    r3, r3, #1
    bne     1b
    bx      lr
3:
    cmp     r12, #0x7f800000
    bgt     2b
    and     r0, r0, #0x80000000
    orr     r0, r0, r1
    b       2b
    .size   cg_gated_curve_f32_fpu, . - cg_gated_curve_f32_fpu
