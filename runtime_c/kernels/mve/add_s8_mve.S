@ SPDX-License-Identifier: Apache-2.0
/*
 * add_s8_mve.S -- sum (or difference) of two int8 tensors of one shape, Helium (contract:
 * cg_kernels_mve.h).
 *
 * Assembly for the tail-predicated loop, which gcc 12 does not make: 9 instructions for four
 * elements, because a sum of two products is scaled once.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* cg_add_params_mve */
#define COUNT   0
#define LHS     4  /* and rhs */
#define OFFSET  12 /* and shift */
#define ACT_MIN 20 /* and act_max */

/*
 * void cg_add_s8_mve_run(const cg_add_params_mve *params, const int8_t *lhs, const int8_t *rhs,
 *                        int8_t *output, int32_t count)
 */
    function     cg_add_s8_mve_run
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
    push         {r4-r7, lr}
    vpush        {d8-d9}
    ldrd         r4, r5, [r0, #ACT_MIN]
    vdup.32      q3, r4
    vdup.32      q4, r5
    ldrd         r4, r5, [r0, #LHS]
    ldrd         r6, r7, [r0, #OFFSET]
    vdup.32      q2, r4
    dlstp.32     lr, r12
1:  vldrb.s32    q0, [r1], #4
    vmlas.s32    q0, q2, r6
    vldrb.s32    q1, [r2], #4
    vmla.s32     q0, q1, r5
    vrshl.s32    q0, r7
    vmax.s32     q0, q0, q3
    vmin.s32     q0, q0, q4
    vstrb.32     q0, [r3], #4
    letp         lr, 1b
    vpop         {d8-d9}
    pop          {r4-r7, pc}
    .size cg_add_s8_mve, . - cg_add_s8_mve
