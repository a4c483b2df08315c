@ SPDX-License-Identifier: Apache-2.0
@ pairs_run_s8_dsp.S -- runs of MAXIMUM, MINIMUM, MUL and PRELU on int8, DSP extension (contract:
@ cg_pairs_dsp.h).
@
@ Assembly for SSUB8 with SEL (eight elements in 10 instructions) and for requantizing in registers
@ (cg_requantize_dsp.inc): MUL takes 34 for four elements, PRELU 7 an element from the zero point on, else
@ 12.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    @ Not equal where r1, r2 or r3 is no multiple of 4. Changes r12 and the flags.
    .macro alignment
    orr     r12, r1, r2
    orr     r12, r12, r3
    tst     r12, #3
    .endm

    @ Stores the larger of two elements each at r1 and r2 to r3, lr of them; `is_least`: smaller.
    @ Changes r1-r7, r12, lr and the flags.
    .macro extremes is_least
    alignment
    bne     3f
    subs    lr, lr, #8
    blt     2f
1:  ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    ldr     r6, [r1], #4
    ldr     r7, [r2], #4
    ssub8   r12, r4, r5
    .if     \is_least
    sel     r4, r5, r4
    .else
    sel     r4, r4, r5
    .endif
    ssub8   r12, r6, r7
    .if     \is_least
    sel     r6, r7, r6
    .else
    sel     r6, r6, r7
    .endif
    str     r4, [r3], #4
    str     r6, [r3], #4
    subs    lr, lr, #8
    bge     1b
2:  adds    lr, lr, #8
    beq     4f
3:  ldrsb   r4, [r1], #1
    ldrsb   r5, [r2], #1
    cmp     r4, r5
    .if     \is_least
    it      gt
    movgt   r4, r5
    .else
    it      lt
    movlt   r4, r5
    .endif
    strb    r4, [r3], #1
    subs    lr, lr, #1
    bne     3b
4:  pop     {r4-r7, pc}
    .endm

    function cg_extreme_s8_dsp_run
    ldr     r12, [sp]
    push    {r4-r7, lr}
    mov     lr, r12
    ldr     r4, [r0, #60]           @ kind
    cmp     r4, #0
    bne     .Lleast
    extremes 0
.Lleast:
    extremes 1
    .size   cg_extreme_s8_dsp_run, . - cg_extreme_s8_dsp_run

    @ One element of MUL: r6, r7 minus the zero points, r8 to r10 as `scale` takes them. Changes r4, r5.
    .macro product
    ldrsb   r4, [r1], #1
    ldrsb   r5, [r2], #1
    sxtah   r4, r6, r4
    sxtah   r5, r7, r5
    smulbb  r4, r4, r5
    requantize r4, r8, r9, r10
    strb    r4, [r3], #1
    .endm

    @ Four elements of MUL, as words. Changes r0, r4, r5, r11, r12.
    .macro products
    ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    sxtab16 r11, r6, r4
    sxtab16 r12, r7, r5
    sxtab16 r4, r6, r4, ror #8
    sxtab16 r5, r7, r5, ror #8
    smulbb  r0, r11, r12
    smultt  r11, r11, r12
    smulbb  r12, r4, r5
    smultt  r4, r4, r5
    requantize_all r8, r9, r10, r0, r11, r12, r4
    strb    r0, [r3], #1
    strb    r12, [r3], #1
    strb    r11, [r3], #1
    strb    r4, [r3], #1
    .endm

    function cg_mul_s8_dsp_run
    ldr     r12, [sp]
    push    {r4-r11, lr}
    mov     lr, r12
    adds    r0, r0, #60
    ldm     r0, {r6-r10}            @ zero points, multiplier, shift, zero point of the result
    alignment
    bne     3f
    subs    lr, lr, #4
    blt     2f
1:  products
    subs    lr, lr, #4
    bge     1b
2:  adds    lr, lr, #4
    beq     4f
3:  product
    subs    lr, lr, #1
    bne     3b
4:  pop     {r4-r11, pc}
    .size   cg_mul_s8_dsp_run, . - cg_mul_s8_dsp_run

    function cg_prelu_s8_dsp_run
    ldr     r12, [sp]
    push    {r4-r11, lr}
    add     lr, r3, r12
    adds    r0, r0, #60
    ldm     r0, {r6-r11}            @ zero points, multiplier, shift, zero point of the result, positive
    adds    r11, r11, #128          @ the result of value 0
1:  ldrsb   r4, [r1], #1
    ldrsb   r5, [r2], #1
    subs    r12, r4, r6
    blt     2f
    ldrb    r4, [r11, r4]
    strb    r4, [r3], #1
    cmp     r3, lr
    bne     1b
    pop     {r4-r11, pc}
2:  subs    r5, r5, r7
    mul     r4, r12, r5
    requantize r4, r8, r9, r10
    strb    r4, [r3], #1
    cmp     r3, lr
    bne     1b
    pop     {r4-r11, pc}
    .size   cg_prelu_s8_dsp_run, . - cg_prelu_s8_dsp_run
