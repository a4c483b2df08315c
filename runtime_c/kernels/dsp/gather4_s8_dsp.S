@ SPDX-License-Identifier: Apache-2.0
@ gather4_s8_dsp.S -- four pixels widened to int16 for tile4_s8_dsp.S, DSP extension.
@
@ Assembly, because gcc 12 keeps neither eight words for one STM nor four addresses in registers:
@ 15 instructions for 16 values of aligned pixels (gcc: 29), 32 for 16 by a table of offsets.
@ Contracts: cg_conv_dsp_parts.h.
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

    function cg_gather4_s8_dsp
    push    {r4-r11, lr}
    ldr     r4, [sp, #36]                   @ last_step
    mov     r12, r1
    add     lr, r0, r2, lsl #2
    add     r1, r0, r3
    add     r2, r1, r3
    add     r3, r2, r4
.Lfour:
    ldr     r4, [r0], #4
    ldr     r5, [r1], #4
    ldr     r6, [r2], #4
    ldr     r7, [r3], #4
    sxtb16  r8, r4, ror #8
    sxtb16  r9, r5, ror #8
    sxtb16  r10, r6, ror #8
    sxtb16  r11, r7, ror #8
    sxtb16  r4, r4
    sxtb16  r5, r5
    sxtb16  r6, r6
    sxtb16  r7, r7
    stm     r12!, {r4-r11}
    cmp     r0, lr
    bne     .Lfour
    pop     {r4-r11, pc}
    .size   cg_gather4_s8_dsp, . - cg_gather4_s8_dsp

    .balign 4
    entry   cg_gather4_apart_s8_dsp
    push    {r4-r11, lr}
    mov     r4, r0
    mov     r12, r1
    mov     lr, r2
    ldm     r4, {r0-r3}
    add     lr, r0, lr, lsl #2
    b       .Lfour
    .size   cg_gather4_apart_s8_dsp, . - cg_gather4_apart_s8_dsp

    @ One pair of values of four pixels, by the offsets at lr, to r12. Changes r4-r9.
    .macro pairs_by_offsets
    ldrsh   r8, [lr], #2
    ldrsh   r9, [lr], #2
    ldrsb   r4, [r0, r8]
    ldrsb   r5, [r1, r8]
    ldrsb   r6, [r2, r8]
    ldrsb   r7, [r3, r8]
    ldrsb   r8, [r0, r9]
    pkhbt   r4, r4, r8, lsl #16
    ldrsb   r8, [r1, r9]
    pkhbt   r5, r5, r8, lsl #16
    ldrsb   r8, [r2, r9]
    pkhbt   r6, r6, r8, lsl #16
    ldrsb   r8, [r3, r9]
    pkhbt   r7, r7, r8, lsl #16
    stm     r12!, {r4-r7}
    .endm

    function cg_gather4_bytes_s8_dsp
    push    {r4-r10, lr}
    ldrd    r4, lr, [sp, #32]               @ last_step, offsets
    mov     r12, r1
    mov     r10, r2
    add     r1, r0, r3
    add     r2, r1, r3
    add     r3, r2, r4
.Lfour_bytes:
    pairs_by_offsets
    pairs_by_offsets
    subs    r10, r10, #1
    bne     .Lfour_bytes
    pop     {r4-r10, pc}
    .size   cg_gather4_bytes_s8_dsp, . - cg_gather4_bytes_s8_dsp
