@ SPDX-License-Identifier: Apache-2.0
/*
 * gated_f32_mve.S -- products and curves of gates, float32, with float Helium (contract:
 * cg_gated_parts.h).
 *
 * Why assembly: LDM brings four values in one instruction, a curve's numbers stay in registers, and
 * its four quotients are those of the lanes as scalars, as Helium does not divide. Products and sums
 * are rounded once.
 */
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#include "cg_asm.inc"

/*
 * void cg_gated_rows_f32_mve(const float *weights, const float *from, const cg_f32 *x, cg_f32 *to,
 *                            int32_t count, int32_t blocks): r5 fours of values, r6 others, r7 blocks
 * left.
 */
    frame   cg_frame_cg_gated_rows_f32_mve, 0, 36
    function cg_gated_rows_f32_mve
    push    {r4-r11, lr}
    ldrd    r6, r7, [sp, #36]
    lsrs    r5, r6, #2
    and     r6, r6, #3
1:
    vldrw.u32 q0, [r1], #16
    mov     r4, r2
    wls     lr, r5, 3f
2:
    ldm     r4!, {r8-r11}
    vldrw.u32 q1, [r0], #16
    vldrw.u32 q2, [r0], #16
    vfma.f32 q0, q1, r8
    vldrw.u32 q1, [r0], #16
    vfma.f32 q0, q2, r9
    vldrw.u32 q2, [r0], #16
    vfma.f32 q0, q1, r10
    vfma.f32 q0, q2, r11
    le      lr, 2b
3:
    wls     lr, r6, 5f
4:
    ldr     r8, [r4], #4
    vldrw.u32 q1, [r0], #16
    vfma.f32 q0, q1, r8
    le      lr, 4b
5:
    vstrw.32 q0, [r3], #16
    subs    r7, r7, #1
    bne     1b
    pop     {r4-r11, pc}
    .size   cg_gated_rows_f32_mve, . - cg_gated_rows_f32_mve

/*
 * void cg_gated_curve_f32_mve(const cg_gated_curve *curve, const float *limit, cg_f32 *values,
 *                             int32_t count): r0, r3-r6 P, r7-r10 Q, r11 the middle, r1 the limit,
 * r12 it negated. A NaN is neither above nor below.
 */
    frame   cg_frame_cg_gated_curve_f32_mve, 0, 36
    function cg_gated_curve_f32_mve
    push    {r4-r11, lr}
    lsrs    lr, r3, #2
    ldr     r1, [r1]
    eor     r12, r1, #0x80000000
    ldm     r0!, {r3-r6}
    ldm     r0, {r0, r7-r11}
    dls     lr, lr
1:
    vldrw.u32 q0, [r2]
    vpt.f32 gt, q0, r1
    vdupt.32 q0, r1
    vpt.f32 lt, q0, r12
    vdupt.32 q0, r12
    vmul.f32 q1, q0, q0
    vmul.f32 q2, q1, r3
    vadd.f32 q3, q1, r7
    vadd.f32 q2, q2, r4
    vfmas.f32 q3, q1, r8
    vfmas.f32 q2, q1, r5
    vfmas.f32 q3, q1, r9
    vfmas.f32 q2, q1, r6
    vfmas.f32 q3, q1, r10
    vfmas.f32 q2, q1, r0
    vmul.f32 q2, q2, q0
    vdiv.f32 s8, s8, s12
    vdiv.f32 s9, s9, s13
    vdiv.f32 s10, s10, s14
    vdiv.f32 s11, s11, s15
    vadd.f32 q2, q2, r11
    vstrw.32 q2, [r2], #16
    le      lr, 1b
    pop     {r4-r11, pc}
    .size   cg_gated_curve_f32_mve, . - cg_gated_curve_f32_mve
