@ SPDX-License-Identifier: Apache-2.0
@ sums_s8_v6m.S -- sums of int8, ARMv6-M (contract: cg_mean_blocks.h).
@
@ Assembly, because four elements are taken out of a word: 14 instructions for four columns of a row, 13
@ for four elements of a line, 5 for one of an odd one.
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

    @ The elements of r4 to four sums. Changes r5 and the flags.
    .macro add_word first, second, third, fourth
    sxtb    r5, r4
    adds    \first, \first, r5
    lsls    r5, r4, #16
    asrs    r5, r5, #24
    adds    \second, \second, r5
    lsls    r5, r4, #8
    asrs    r5, r5, #24
    adds    \third, \third, r5
    asrs    r5, r4, #24
    adds    \fourth, \fourth, r5
    .endm

    function cg_sums_s8_v6m
    push    {r4-r7, lr}
    mov     r12, r3
    muls    r1, r2, r1
    adds    r1, r0, r1
    mov     lr, r1
    movs    r1, #0
    movs    r3, #0
    movs    r6, #0
    movs    r7, #0
1:  ldr     r4, [r0]
    add_word r1, r3, r6, r7
    adds    r0, r0, r2
    cmp     r0, lr
    bne     1b
    mov     r0, r12
    str     r1, [r0]
    str     r3, [r0, #4]
    str     r6, [r0, #8]
    str     r7, [r0, #12]
    pop     {r4-r7, pc}
    .size   cg_sums_s8_v6m, . - cg_sums_s8_v6m

    function cg_sum_s8_v6m
    push    {r4, r5, lr}
    adds    r1, r0, r1
    movs    r2, #0
1:  ldm     r0!, {r4}
    add_word r2, r2, r2, r2
    cmp     r0, r1
    bne     1b
    mov     r0, r2
    pop     {r4, r5, pc}
    .size   cg_sum_s8_v6m, . - cg_sum_s8_v6m

    function cg_sum_steps_s8_v6m
    push    {r4, r5, lr}
    movs    r3, #0
    movs    r5, #0
1:  ldrsb   r4, [r0, r3]
    adds    r5, r5, r4
    adds    r0, r0, r1
    subs    r2, r2, #1
    bne     1b
    mov     r0, r5
    pop     {r4, r5, pc}
    .size   cg_sum_steps_s8_v6m, . - cg_sum_steps_s8_v6m
