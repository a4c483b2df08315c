@ SPDX-License-Identifier: Apache-2.0
@ batch_matmul_parts_s8_dsp.S -- rows and columns of BATCH_MATMUL widened, int8, DSP extension.
@ Contracts and structs: cg_matmul_dsp_parts.h.
@
@ Assembly, because SXTAB16 takes the zero point off while it widens. Words widen 8 factors in 9
@ instructions, bytes in 23.
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

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
