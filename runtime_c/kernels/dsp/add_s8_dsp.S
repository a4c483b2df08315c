@ SPDX-License-Identifier: Apache-2.0
@ add_s8_dsp.S -- sum of two int8 tensors of one shape, DSP extension (contract: cg_add_dsp.h).
@
@ Assembly, because all numbers stay in registers: 14 instructions an element, 10 where both scales
@ are equal, and 2 a turn of four; gcc 12 takes about 30. Requantizing: see cg_requantize_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    @ r1 values of the larger scale, r2 of the other one, r3 results, r5 offset, r6 multiplier,
    @ r7 shift, r8 base, r9 multiplier, r10 shift and r11 zero point of the result.
    .macro mixed
    ldrsb   r4, [r1], #1
    ldrsb   r12, [r2], #1
    add     r12, r5, r12, lsl #20
    scale   r12, r6, r7, r8
    add     r12, r12, r4, lsl #19
    scale   r12, r9, r10, r11
    ssat    r12, #8, r12
    strb    r12, [r3], #1
    .endm

    @ An element where both scales are equal: of both arguments values times 2^19.
    .macro equal
    ldrsb   r4, [r1], #1
    ldrsb   r12, [r2], #1
    add     r12, r12, r4
    add     r12, r8, r12, lsl #19
    scale   r12, r9, r10, r11
    ssat    r12, #8, r12
    strb    r12, [r3], #1
    .endm

    @ All elements up to lr, first those beyond a multiple of four (r0).
    .macro elements kind
    sub     r0, lr, r3
    ands    r0, r0, #3
    beq     2f
1:  \kind
    subs    r0, r0, #1
    bne     1b
2:  cmp     r3, lr
    beq     4f
3:  .rept   4
    \kind
    .endr
    cmp     r3, lr
    bne     3b
4:  pop     {r4-r11, pc}
    .endm

    .section .text.cg_add_s8_dsp, "ax", %progbits
    .balign 4
    entry   cg_add_s8_dsp_run
    ldr     r12, [sp]
    b       .Ladd
    .size   cg_add_s8_dsp_run, . - cg_add_s8_dsp_run

    entry   cg_add_s8_dsp
    ldr     r12, [r0]
.Ladd:
    push    {r4-r11, lr}
    add     lr, r3, r12
    adds    r0, r0, #4
    ldm     r0, {r4-r11}            @ is_swapped, then as above
    cmp     r4, #0
    ittt    ne
    movne   r12, r1
    movne   r1, r2
    movne   r2, r12
    cmp     r7, #0
    beq     .Lequal
    elements mixed
.Lequal:
    elements equal
    .size   cg_add_s8_dsp, . - cg_add_s8_dsp
