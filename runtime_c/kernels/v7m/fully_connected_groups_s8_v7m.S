@ SPDX-License-Identifier: Apache-2.0
@ fully_connected_groups_s8_v7m.S -- one row of inputs times eight, four or one outputs' weights on
@ ARMv7-M.
@
@ Why assembly: eight sums, two addresses, an input and a weight leave gcc no registers. An input
@ takes 17 instructions for eight outputs (2.125 a multiply-accumulate), 9 for four, 3 for one, and 2
@ more a turn of UNROLL inputs, which is entered in the middle.
@
@ Contract, packing: cg_kernels_v7m.h, cg_v7m_parts.h. Words are accessed in the sums and the stack
@ only.
#include "cg_needs_v7m.h"
#include "cg_requantize_v7m.inc"

    .set UNROLL, 4

    @ r0 input, r1 weights, r2 value, r3 weight, r4-r11 sums, r12 end of the input.
    .macro product sum
    ldrsb   r3, [r1], #1
    mla     \sum, r3, r2, \sum
    .endm

    @ The next input times the weights of \count outputs. Changes r2, r3.
    .macro products count
    ldrsb   r2, [r0], #1
    product r4
    .if     \count > 1
    product r5
    product r6
    product r7
    .endif
    .if     \count > 4
    product r8
    product r9
    product r10
    product r11
    .endif
    .endm

    @ \what: ldm or stm, of \count sums at r3.
    .macro all_sums what, count
    .if     \count == 8
    \what   r3, {r4-r11}
    .elseif \count == 4
    \what   r3, {r4-r7}
    .else
    \what   r3, {r4}
    .endif
    .endm

    @ name(input, in_len, weights, sums)
    .macro group name, count
    frame   cg_frame_\name, 4, 44
    function \name
    push    {r2-r11, lr}
    sub     sp, sp, #4
    all_sums ldm, \count
    str     r3, [sp, #4]
    add     r12, r0, r1
    rsb     r1, r1, #0
    and     r1, r1, #UNROLL - 1             @ values that the first turn skips
    movs    r3, #(.Lcheck_\name - .Lloop_\name) / UNROLL
    adr     lr, .Lloop_\name
    mla     r3, r1, r3, lr
    add     r3, r3, #1                      @ as BX wants it
    str     r3, [sp]
    mov     r1, r2
    ldr     pc, [sp]
    .balign 4
.Lloop_\name:
    .rept   UNROLL
    products \count
    .endr
.Lcheck_\name:
    cmp     r0, r12
    bne.w   .Lloop_\name
    ldr     r3, [sp, #4]
    all_sums stm, \count
    add     sp, sp, #12
    pop     {r4-r11, pc}
    .size   \name, . - \name
    .endm

    group   cg_fc_group8_s8_v7m, 8
    group   cg_fc_group4_s8_v7m, 4
    group   cg_fc_group1_s8_v7m, 1

@ ---- results --------------------------------------------------------------------------------

@ cg_fc_finish_s8_v7m(words, sums, output, count, range)
@ r7 words, r1 to r3 of one output, r4 sum, r5 sums, r6 output, r8 end of the sums.
    frame   cg_frame_cg_fc_finish_s8_v7m, 0, 32
    function cg_fc_finish_s8_v7m
    push    {r3-r9, lr}
    mov     r7, r0
    mov     r5, r1
    mov     r6, r2
    add     r8, r1, r3, lsl #2
    mvn     r9, #0xC0000000
.Lresult:
    ldm     r7!, {r1-r3}                    @ multiplier, offset, shift
    ldr     r4, [r5], #4
    lsls    r12, r3, #2                     @ carry: the long way
    bcs     .Lany
    requantize r4, r1, r2, r3, r9, r12, lr
.Lstore:
    strb    r4, [r6], #1
    cmp     r5, r8
    bne     .Lresult
    pop     {r3-r9, pc}
.Lany:
    ldr     r0, [sp, #32]
    mov     r2, r1
    sub     r1, r5, #4
    uxtb    r3, r3
    orr     r3, r3, #1 << 8
    bl      cg_requantize_s8_v7m
    ldr     r4, [r5, #-4]
    b       .Lstore
    .size   cg_fc_finish_s8_v7m, . - cg_fc_finish_s8_v7m
