@ SPDX-License-Identifier: Apache-2.0
@ pairs_run_s8_v7m.S -- runs of MAXIMUM, MINIMUM, MUL, PRELU on int8, ARMv7-M (contract:
@ cg_pairs_v7m.h).
@
@ Assembly, because four elements are compared in a word (15 instructions) and C has no SMLAL that
@ begins with half a result: MUL takes 12 instructions an element, PRELU 15 below zero and 8 from
@ there on.
#include "cg_needs_v7m.h"
#include "cg_asm.inc"

    .set SIGNS, 0x80808080

    @ Takes the larger of two bytes each of r4 and r5 to r5; `is_least`: the smaller. A byte of
    @ r4 is not less if, with equal signs, its lower seven bits say so; else if its sign is 0.
    @ Changes r4, r6, r7.
    .macro extremes is_least
    orr     r6, r4, #SIGNS
    bic     r7, r5, #SIGNS
    sub     r6, r6, r7
    eor     r7, r4, r5
    bic     r6, r6, r7
    bic     r4, r5, r4
    orr     r6, r6, r4
    and     r6, r6, #SIGNS
    lsr     r4, r6, #7
    rsb     r6, r4, r6, lsl #1              @ a sign to all bits of its byte
    .if     \is_least
    bic     r7, r7, r6
    .else
    and     r7, r7, r6
    .endif
    eor     r5, r5, r7
    .endm

    @ Stores the larger of two elements each at r1 and r2 to r3, lr of them; `is_least`: smaller.
    @ Changes r1-r7, r12, lr and the flags.
    .macro run is_least
    orr     r12, r1, r2
    orr     r12, r12, r3
    tst     r12, #3
    bne     3f
    subs    lr, lr, #4
    blt     2f
1:  ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    extremes \is_least
    str     r5, [r3], #4
    subs    lr, lr, #4
    bge     1b
2:  adds    lr, lr, #4
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

    function cg_extreme_s8_v7m_run
    ldr     r12, [sp]
    push    {r4-r7, lr}
    mov     lr, r12
    ldr     r4, [r0, #60]                   @ kind
    cmp     r4, #0
    bne     .Lleast
    run     0
.Lleast:
    run     1
    .size   cg_extreme_s8_v7m_run, . - cg_extreme_s8_v7m_run

    @ r4 times r5 to r3: r8 multiplier, r9 offset, r10 shift. What SMLAL adds to is 2^31 less where the
    @ product is negative: halves go away from zero. Changes r0, r4, r12 and the flags.
    .macro scaled
    muls    r4, r5, r4
    and     r0, r4, #0x80000000
    add     r12, r9, r4, asr #31
    orr     r0, r0, #0x40000000
    smlal   r0, r12, r4, r8
    asr     r4, r12, r10
    ssat    r4, #8, r4
    strb    r4, [r3], #1
    .endm

    @ An element: r6, r7 zero points, others as in `scaled`. Changes r0, r4, r5, r12 and the flags.
    .macro product
    ldrsb   r4, [r1], #1
    ldrsb   r5, [r2], #1
    subs    r4, r4, r6
    subs    r5, r5, r7
    scaled
    .endm

    function cg_mul_s8_v7m_run
    ldr     r12, [sp]
    push    {r4-r11, lr}
    add     lr, r3, r12
    adds    r0, r0, #60
    ldm     r0, {r6-r10}
    lsls    r12, r12, #31
    beq     2f
1:  product
    cmp     r3, lr
    beq     3f
2:  product
    product
    cmp     r3, lr
    bne     2b
3:  pop     {r4-r11, pc}
    .size   cg_mul_s8_v7m_run, . - cg_mul_s8_v7m_run

    function cg_prelu_s8_v7m_run
    ldr     r12, [sp]
    push    {r4-r11, lr}
    add     lr, r3, r12
    adds    r0, r0, #60
    ldm     r0, {r6-r11}                    @ zero points, multiplier, offset, shift, positive
    add     r11, r11, r6
    adds    r11, r11, #128                  @ the result of the zero point
1:  ldrsb   r4, [r1], #1
    ldrsb   r5, [r2], #1
    subs    r4, r4, r6
    blt     2f
    ldrb    r4, [r11, r4]
    strb    r4, [r3], #1
    cmp     r3, lr
    bne     1b
    pop     {r4-r11, pc}
2:  subs    r5, r5, r7
    scaled
    cmp     r3, lr
    bne     1b
    pop     {r4-r11, pc}
    .size   cg_prelu_s8_v7m_run, . - cg_prelu_s8_v7m_run
