@ SPDX-License-Identifier: Apache-2.0
@ batch_matmul_parts_s8_v7m.S -- two rows by all columns of BATCH_MATMUL, int8, ARMv7-M. Contract and
@ struct: batch_matmul_s8_v7m.c.
@
@ Assembly, because two rows by four columns need all fourteen registers: eight sums, three addresses,
@ two factors of rows and one of a column. 14 instructions for 8 multiply-accumulates; eight results take
@ 94 more, and 4 a turn of the loop.
#include "cg_needs_v7m.h"
#include "cg_asm.inc"

    .set UNROLL, 4

    @ cg_matmul_rows_v7m. Rows and columns are loaded together.
    .set COLUMNS, 8
    .set TERMS, 12
    .set COLUMN_TERMS, 20
    .set MULTIPLIER, 24                     @ and offset
    .set SHIFT, 32
    .set OUTPUTS, 36
    .set FOURS, 44
    .set EARLIER, 48
    .set DEPTH, 52
    .set ENTRY, 56
    .set END, 60

    @ The next factor of a column times one of both rows. Changes r3.
    .macro column first, second
    ldrsb   r3, [r2], #1
    mla     \first, r3, r12, \first
    mla     \second, r3, lr, \second
    .endm

    @ Sums to results: r0 multiplier, r1 offset, r2 shift, r3 2^30. What SMLAL adds to is 2^31 less where
    @ the sum is negative: halves go away from zero. Changes r12, lr.
    .macro requantize sums:vararg
    .irp    sum, \sums
    and     r12, \sum, #0x80000000
    add     lr, r1, \sum, asr #31
    orr     r12, r12, r3
    smlal   r12, lr, \sum, r0
    asr     \sum, lr, r2
    ssat    \sum, #8, \sum
    .endr
    .endm

    frame   cg_frame_cg_matmul_rows_s8_v7m, 0, 40
    function cg_matmul_rows_s8_v7m
    push    {r0, r4-r11, lr}
    ldr     r1, [r0, #DEPTH]
    ldr     r2, [r0]
    add     r2, r2, r1
    and     r1, r1, #UNROLL - 1
    adr.w   r3, .Lcheck
    movs    r4, #(.Lcheck - .Lloop) / UNROLL
    mls     r3, r1, r4, r3
    adds    r3, r3, #1
    strd    r3, r2, [r0, #ENTRY]            @ and END
.Lfour:
    ldrd    r4, r8, [r0, #TERMS]
    mov     r5, r4
    mov     r6, r4
    mov     r7, r4
    mov     r9, r8
    mov     r10, r8
    mov     r11, r8
    mov     r3, r0
    ldm     r3, {r0-r2}
    ldr     pc, [r3, #ENTRY]
.Lloop:
    .rept   UNROLL
    ldrsb   r12, [r0], #1
    ldrsb   lr, [r1], #1
    column  r4, r8
    column  r5, r9
    column  r6, r10
    column  r7, r11
    .endr
.Lcheck:
    ldr     r3, [sp]
    ldr     r12, [r3, #END]
    cmp     r0, r12
    bne     .Lloop
    str     r2, [r3, #COLUMNS]
    ldr     r12, [r3, #COLUMN_TERMS]
    ldm     r12!, {r0-r2, lr}
    str     r12, [r3, #COLUMN_TERMS]
    add     r4, r4, r0
    add     r5, r5, r1
    add     r6, r6, r2
    add     r7, r7, lr
    add     r8, r8, r0
    add     r9, r9, r1
    add     r10, r10, r2
    add     r11, r11, lr
    ldrd    r0, r1, [r3, #MULTIPLIER]
    ldr     r2, [r3, #SHIFT]
    mov     r3, #0x40000000
    requantize r4, r5, r6, r7, r8, r9, r10, r11
    ldr     r0, [sp]
    ldrd    r1, r2, [r0, #OUTPUTS]
    ldr     r3, [r0, #FOURS]
    subs    r3, r3, #1
    bne     1f
    ldr     r12, [r0, #EARLIER]
    sub     r1, r1, r12
    sub     r2, r2, r12
1:  strb    r4, [r1], #1
    strb    r5, [r1], #1
    strb    r6, [r1], #1
    strb    r7, [r1], #1
    strb    r8, [r2], #1
    strb    r9, [r2], #1
    strb    r10, [r2], #1
    strb    r11, [r2], #1
    strd    r1, r2, [r0, #OUTPUTS]
    str     r3, [r0, #FOURS]
    cmp     r3, #0
    bne     .Lfour
    pop     {r0, r4-r11, pc}
    .size   cg_matmul_rows_s8_v7m, . - cg_matmul_rows_s8_v7m
