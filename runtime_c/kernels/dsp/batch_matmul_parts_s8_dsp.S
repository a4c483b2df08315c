@ SPDX-License-Identifier: Apache-2.0
@ batch_matmul_parts_s8_dsp.S -- rows and columns of BATCH_MATMUL widened, and two rows by all
@ columns, int8, DSP extension. Contracts and structs: batch_matmul_s8_dsp.c.
@
@ Assembly, because two rows by two columns need all fourteen registers: four sums, four words of
@ each side, two addresses. 10 instructions for 16 multiply-accumulates (0.625); four results take 37
@ more, and 3 a turn of the loop. Words widen 8 factors in 9 instructions, bytes in 23.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    .set UNROLL, 4

    function cg_matmul_pack_words_dsp
    push    {r4-r8, lr}
    ldrd    r8, r12, [r0]                   @ zeros, groups
    add     r2, r1, r2
    add     lr, r1, r12, lsl #2
.Lword:
    ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    sxtab16 r6, r8, r4, ror #8
    sxtab16 r7, r8, r5, ror #8
    sxtab16 r4, r8, r4
    sxtab16 r5, r8, r5
    stm     r3!, {r4-r7}
    cmp     r1, lr
    bne     .Lword
    pop     {r4-r8, pc}
    .size   cg_matmul_pack_words_dsp, . - cg_matmul_pack_words_dsp

    @ Four factors a0 b0 a1 b1 a2 b2 a3 b3 in r4-r11 to r3. r12 zeros. Changes r4-r7.
    .macro  store_factors
    pkhbt   r4, r4, r8, lsl #16
    pkhbt   r5, r5, r9, lsl #16
    pkhbt   r6, r6, r10, lsl #16
    pkhbt   r7, r7, r11, lsl #16
    sadd16  r4, r4, r12
    sadd16  r5, r5, r12
    sadd16  r6, r6, r12
    sadd16  r7, r7, r12
    stm     r3!, {r4-r7}
    .endm

    @ A factor of each row; r1 moves on by r0, r2 is how far apart rows are.
    .macro  load_factor a, b
    ldrsb   \a, [r1]
    ldrsb   \b, [r1, r2]
    add     r1, r1, r0
    .endm

    function cg_matmul_pack_bytes_dsp
    push    {r3-r11, lr}
    ldm     r0, {r4, r5, r6, r7}            @ zeros, groups, rest, next
    mov     r12, r4
    mov     r0, r7
    str     r6, [sp]
    movs    lr, r5
    beq     .Lrest
.Lbyte:
    load_factor r4, r5
    load_factor r6, r7
    load_factor r8, r9
    load_factor r10, r11
    store_factors
    subs    lr, lr, #1
    bne     .Lbyte
.Lrest:
    ldr     lr, [sp]
    cmp     lr, #0
    beq     .Lpacked
    sxth    r6, r12                         @ what is left out becomes 0
    rsb     r6, r6, #0
    mov     r7, r6
    mov     r8, r6
    mov     r9, r6
    mov     r10, r6
    mov     r11, r6
    load_factor r4, r5
    cmp     lr, #2
    blt     .Llast
    load_factor r6, r7
    beq     .Llast
    load_factor r8, r9
.Llast:
    store_factors
.Lpacked:
    pop     {r3-r11, pc}
    .size   cg_matmul_pack_bytes_dsp, . - cg_matmul_pack_bytes_dsp

    @ Frame. The first five words are loaded together.
    .set F_FACTORS, 0
    .set F_OUT_ZERO, 8
    .set F_OUTPUTS, 12
    .set F_ROWS, 20
    .set F_ENTRY, 24
    .set F_END, 28
    .set F_COUNT, 32
    .set F_BYTES, 36

    frame   cg_frame_cg_matmul_rows_s8_dsp, F_BYTES
    function cg_matmul_rows_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    ldm     r0, {r3-r9}                     @ rows, columns, groups, count, factors, out_zero
    strd    r7, r8, [sp, #F_FACTORS]
    strd    r9, r1, [sp, #F_OUT_ZERO]       @ and F_OUTPUTS
    str     r2, [sp, #F_OUTPUTS + 4]
    mov     r1, r4
    add     lr, r3, r5, lsl #4
    and     r12, r5, #UNROLL - 1
    adr.w   r10, .Lcheck
    movs    r11, #(.Lcheck - .Lloop) / UNROLL
    mls     r10, r12, r11, r10
    adds    r10, r10, #1
    strd    r3, r10, [sp, #F_ROWS]          @ and F_ENTRY
    strd    lr, r6, [sp, #F_END]            @ and F_COUNT
.Lpair:
    ldr     r0, [sp, #F_ROWS]
    movs    r2, #0
    movs    r3, #0
    movs    r4, #0
    movs    r5, #0
    ldr     pc, [sp, #F_ENTRY]
.Lloop:
    .rept   UNROLL
    ldm.w   r0!, {r6-r9}
    ldm.w   r1!, {r10, r11, r12, lr}
    smlad   r2, r6, r10, r2
    smlad   r3, r6, r11, r3
    smlad   r4, r7, r10, r4
    smlad   r5, r7, r11, r5
    smlad   r2, r8, r12, r2
    smlad   r3, r8, lr, r3
    smlad   r4, r9, r12, r4
    smlad   r5, r9, lr, r5
    .endr
.Lcheck:
    ldr     r6, [sp, #F_END]
    cmp     r0, r6
    bne     .Lloop
    ldm     sp, {r6-r10}
    requantize_all r6, r7, r8, r2, r3, r4, r5
    ldr     r11, [sp, #F_COUNT]
    strb    r4, [r10], #1                   @ first, for the first row may take its place
    strb    r2, [r9], #1
    subs    r11, r11, #2
    bmi     .Ldone
    strb    r5, [r10], #1
    strb    r3, [r9], #1
    strd    r9, r10, [sp, #F_OUTPUTS]
    str     r11, [sp, #F_COUNT]
    bne     .Lpair
.Ldone:
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}
    .size   cg_matmul_rows_s8_dsp, . - cg_matmul_rows_s8_dsp
