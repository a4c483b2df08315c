@ SPDX-License-Identifier: Apache-2.0
@ sums_s8_v7m.S -- sums of int8, ARMv7-M (contract: cg_mean_blocks.h).
@
@ Assembly, because C keeps no four sums in registers at -Os: 11 instructions for four columns of a row, 10
@ for four elements of a line, 5 for one of an odd one.
#include "cg_needs_v7m.h"
#include "cg_asm.inc"

    function cg_sums_s8_v7m
    push    {r4-r7, lr}
    movs    r4, #0
    movs    r5, #0
    movs    r6, #0
    movs    r7, #0
1:  ldrsb   r12, [r0]
    add     r4, r4, r12
    ldrsb   r12, [r0, #1]
    add     r5, r5, r12
    ldrsb   r12, [r0, #2]
    add     r6, r6, r12
    ldrsb   r12, [r0, #3]
    add     r7, r7, r12
    adds    r0, r0, r2
    subs    r1, r1, #1
    bne     1b
    stm     r3!, {r4-r7}
    pop     {r4-r7, pc}
    .size   cg_sums_s8_v7m, . - cg_sums_s8_v7m

    function cg_sum_s8_v7m
    movs    r2, #0
1:  ldrsb   r3, [r0], #1
    adds    r2, r2, r3
    ldrsb   r3, [r0], #1
    adds    r2, r2, r3
    ldrsb   r3, [r0], #1
    adds    r2, r2, r3
    ldrsb   r3, [r0], #1
    adds    r2, r2, r3
    subs    r1, r1, #4
    bne     1b
    mov     r0, r2
    bx      lr
    .size   cg_sum_s8_v7m, . - cg_sum_s8_v7m

    function cg_sum_steps_s8_v7m
    mov     r12, r0
    movs    r0, #0
1:  ldrsb   r3, [r12]
    add     r12, r12, r1
    adds    r0, r0, r3
    subs    r2, r2, #1
    bne     1b
    bx      lr
    .size   cg_sum_steps_s8_v7m, . - cg_sum_steps_s8_v7m
