@ SPDX-License-Identifier: Apache-2.0
@ pairs_run_s8_v6m.S -- runs of MAXIMUM, MINIMUM, MUL, PRELU on int8, ARMv6-M (contract:
@ cg_pairs_v6m.h).
@
@ Assembly, because four elements are compared in a word (20 instructions), and a product of 64 bits
@ that C calls for is two of 32 here: MUL takes 27 instructions an element, 24 by a power of two,
@ PRELU two more below zero and 9 from there on.
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

    @ Takes the larger of two bytes each of r4 and r5 to r5; `is_least`: the smaller. r0 signs. A
    @ byte of r4 is not less if, with equal signs, its lower seven bits say so; else if its sign is 0.
    @ Changes r4, r6, r7 and the flags.
    .macro extremes is_least
    mov     r6, r4
    orrs    r6, r6, r0
    mov     r7, r5
    bics    r7, r7, r0
    subs    r6, r6, r7
    mov     r7, r4
    eors    r7, r7, r5
    bics    r6, r6, r7
    mov     r4, r7
    ands    r4, r4, r5
    orrs    r6, r6, r4
    ands    r6, r6, r0
    lsrs    r4, r6, #7
    lsls    r6, r6, #1
    subs    r6, r6, r4                      @ a sign to all bits of its byte
    .if     \is_least
    bics    r7, r7, r6
    .else
    ands    r7, r7, r6
    .endif
    eors    r5, r5, r7
    .endm

    @ Stores the larger of two elements each at r1 and r2 to r3, up to r12; `is_least`: smaller. lr is
    @ behind the last whole word, or r3. Changes r0-r7 and the flags.
    .macro run is_least
    ldr     r0, .Lsigns
    cmp     r3, lr
    beq     2f
1:  ldm     r1!, {r4}
    ldm     r2!, {r5}
    extremes \is_least
    stm     r3!, {r5}
    cmp     r3, lr
    bne     1b
2:  mov     r6, r12
    subs    r6, r6, r3
    beq     5f
    movs    r7, #0
3:  ldrsb   r4, [r1, r7]
    ldrsb   r5, [r2, r7]
    cmp     r4, r5
    .if     \is_least
    ble     4f
    .else
    bge     4f
    .endif
    mov     r4, r5
4:  strb    r4, [r3, r7]
    adds    r7, r7, #1
    cmp     r7, r6
    bne     3b
5:  pop     {r4-r7, pc}
    .endm

    frame   cg_frame_cg_extreme_s8_v6m_run, 0, 20
    function cg_extreme_s8_v6m_run
    push    {r4-r7, lr}
    ldr     r4, [sp, #20]                   @ count
    adds    r5, r3, r4
    mov     r12, r5
    mov     lr, r3
    mov     r5, r1
    orrs    r5, r5, r2
    orrs    r5, r5, r3
    lsls    r5, r5, #30
    bne     6f
    lsrs    r4, r4, #2
    lsls    r4, r4, #2
    add     lr, r4
6:  ldr     r4, [r0, #60]                   @ kind
    cmp     r4, #0
    bne     .Lleast
    run     0
.Lleast:
    run     1
    .balign 4
.Lsigns:
    .word   0x80808080
    .size   cg_extreme_s8_v6m_run, . - cg_extreme_s8_v6m_run

    @ Elements at r1 and r2 to r3, behind which r7 counts up to 0. r8, r9 minus the zero points, r10 high,
    @ r11 low, r12 half, lr shift, at sp the zero point plus 128. A product is made positive and its sign
    @ kept: halves go away from zero, but those of the first rounding up: `is_exact` sees them.
    @ `is_prelu`: what is not below its zero point is looked up, behind sp is where zero's result lies.
    @ Changes r0, r4-r7 and the flags; goes on at \end.
    .macro products is_exact, is_prelu, end
1:  ldrsb   r4, [r1, r7]
    .if     \is_prelu
    add     r4, r8
    cmp     r4, #0
    bge     4f
    ldrsb   r5, [r2, r7]
    .else
    ldrsb   r5, [r2, r7]
    add     r4, r8
    .endif
    add     r5, r9
    muls    r4, r5, r4
    asrs    r5, r4, #31
    eors    r4, r4, r5
    subs    r4, r4, r5
    mov     r0, r10
    .if     \is_exact
    muls    r4, r0, r4
    adds    r4, r4, r5
    .else
    mov     r6, r11
    muls    r6, r4, r6
    lsrs    r6, r6, #16
    muls    r4, r0, r4
    adds    r4, r4, r6
    .endif
    add     r4, r12
    mov     r0, lr
    lsrs    r4, r4, r0
    eors    r4, r4, r5
    subs    r4, r4, r5
    ldr     r0, [sp]
    adds    r4, r4, r0
    cmp     r4, #255
    bhi     3f
2:  subs    r4, r4, #128
    strb    r4, [r3, r7]
    adds    r7, r7, #1
    bne     1b
    b       \end
3:  asrs    r4, r4, #31                     @ below: 0, above: 255
    mvns    r4, r4
    uxtb    r4, r4
    b       2b
    .if     \is_prelu
4:  ldr     r5, [sp, #4]
    ldrb    r4, [r5, r4]
    strb    r4, [r3, r7]
    adds    r7, r7, #1
    bne     1b
    b       \end
    .endif
    .endm

    @ Registers as `products` has them of r0 parameters, r1, r2, r3 and the count on the stack; r0 behind
    @ the shift, r4 low. Changes r5, r6 and the flags.
    .macro begin
    save_all
    ldr     r7, [sp, #36]                   @ count
    adds    r1, r1, r7
    adds    r2, r2, r7
    adds    r3, r3, r7
    rsbs    r7, r7, #0
    adds    r0, r0, #60
    ldm     r0!, {r4-r6}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    ldm     r0!, {r4-r6}
    mov     r11, r4
    mov     r12, r5
    mov     lr, r6
    .endm

    frame   cg_frame_cg_mul_s8_v6m_run, 4
    function cg_mul_s8_v6m_run
    begin
    ldr     r0, [r0]
    push    {r0}
    cmp     r4, #0
    beq     .Lexact
    products 0, 0, .Ldone
.Lexact:
    products 1, 0, .Ldone
.Ldone:
    pop     {r0}
    return_all
    .size   cg_mul_s8_v6m_run, . - cg_mul_s8_v6m_run

    frame   cg_frame_cg_prelu_s8_v6m_run, 8
    function cg_prelu_s8_v6m_run
    begin
    ldm     r0!, {r5, r6}                   @ zero point of the result, positive
    mov     r0, r8
    subs    r6, r6, r0
    adds    r6, r6, #128                    @ the result of value 0 is there less the offset
    push    {r5, r6}
    cmp     r4, #0
    beq     .Lexact_prelu
    products 0, 1, .Ldone_prelu
.Lexact_prelu:
    products 1, 1, .Ldone_prelu
.Ldone_prelu:
    pop     {r0, r1}
    return_all
    .size   cg_prelu_s8_v6m_run, . - cg_prelu_s8_v6m_run
