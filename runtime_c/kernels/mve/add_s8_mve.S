@ SPDX-License-Identifier: Apache-2.0
/*
 * add_s8_mve.S -- sum (or difference) of two int8 tensors of one shape, Helium (contract:
 * cg_kernels_mve.h).
 *
 * Assembly for the tail-predicated loop, which gcc 12 does not make: 18 instructions for four
 * elements, 22 if neither argument has a scale of one half. Rounding: see cg_requantize_mve.inc.
 */
#include "cg_asm.inc"
    .text

/* cg_add_params_mve */
#define COUNT   0
#define LHS     4  /* scale, offset, multiplier, shift */
#define RHS     20
#define OUT     36 /* multiplier, shift, zero, act_min, act_max, exact */

/* Stored values -> (value - zero point) * scale. */
.macro exact value, pointer, scale, offset
    vldrb.s32    \value, [\pointer], #4
    vmlas.s32    \value, \scale, \offset
.endm

/* The same, then times multiplier and shift (negative). */
.macro scaled value, pointer, scale, offset, multiplier, shift
    exact        \value, \pointer, \scale, \offset
    vqrdmulh.s32 \value, \value, \multiplier
    vshr.s32     q2, \value, #31
    vadd.i32     \value, \value, q2
    vrshl.s32    \value, \shift
.endm

/*
 * The sum of q0 and q1 to results at r3: r8 multiplier, r9 shift, r10 zero point, q6 and q7 the range.
 * Changes q0, q1.
 */
.macro results
    vadd.i32     q0, q0, q1
    vqrdmulh.s32 q0, q0, r8
    vshr.s32     q1, q0, #31
    vadd.i32     q0, q0, q1
    vrshl.s32    q0, r9
    vadd.i32     q0, q0, r10
    vmax.s32     q0, q0, q6
    vmin.s32     q0, q0, q7
    vstrb.32     q0, [r3], #4
.endm

/*
 * void cg_add_s8_mve_run(const cg_add_params_mve *params, const int8_t *lhs, const int8_t *rhs,
 *                        int8_t *output, int32_t count)
 */
    .balign 4
    entry        cg_add_s8_mve_run
    ldr          r12, [sp]
    b            .Ladd
    .size cg_add_s8_mve_run, . - cg_add_s8_mve_run

/*
 * void cg_add_s8_mve(const cg_add_params_mve *params, const int8_t *lhs, const int8_t *rhs,
 *                    int8_t *output)
 */
    .balign 4
    entry        cg_add_s8_mve
    ldr          r12, [r0, #COUNT]
.Ladd:
    push         {r4-r11, lr}
    vpush        {d8-d15}
    add          r11, r0, #OUT
    ldm          r11, {r4-r9} /* multiplier, shift, zero, act_min, act_max, exact */
    vdup.32      q6, r7
    vdup.32      q7, r8
    mov          r11, r9
    mov          r8, r4
    mov          r9, r5
    mov          r10, r6
    ldrd         r4, r5, [r0, #LHS]
    ldrd         r6, r7, [r0, #RHS]
    vdup.32      q4, r4
    vdup.32      q5, r6
    mov          r4, r5
    mov          r5, r7
    cmp          r11, #1
    bgt          .Lrhs_exact
    beq          .Llhs_exact
    ldrd         r6, r7, [r0, #(LHS + 8)]
    ldrd         r11, r0, [r0, #(RHS + 8)]
    dlstp.32     lr, r12
1:  scaled       q0, r1, q4, r4, r6, r7
    scaled       q1, r2, q5, r5, r11, r0
    results
    letp         lr, 1b
    b            .Ldone
.Llhs_exact:
    ldrd         r6, r7, [r0, #(RHS + 8)]
    dlstp.32     lr, r12
1:  exact        q0, r1, q4, r4
    scaled       q1, r2, q5, r5, r6, r7
    results
    letp         lr, 1b
    b            .Ldone
.Lrhs_exact:
    ldrd         r6, r7, [r0, #(LHS + 8)]
    dlstp.32     lr, r12
1:  scaled       q0, r1, q4, r4, r6, r7
    exact        q1, r2, q5, r5
    results
    letp         lr, 1b
.Ldone:
    vpop         {d8-d15}
    pop          {r4-r11, pc}
    .size cg_add_s8_mve, . - cg_add_s8_mve
