@ SPDX-License-Identifier: Apache-2.0
@ gather_s8_dsp.S -- one pixel or two widened to int16 for the tiles of one or two, DSP extension.
@
@ 9 instructions for 8 values of two aligned pixels, 8 for 4 of one, 15 for 4 by a table of offsets.
@ Contracts: cg_conv_dsp_parts.h.
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

    function cg_gather2_s8_dsp
    push    {r4-r7, lr}
    mov     r12, r1
    add     r1, r0, r3
    add     lr, r0, r2, lsl #2
.Ltwo:
    ldr     r4, [r0], #4
    ldr     r5, [r1], #4
    sxtb16  r6, r4, ror #8
    sxtb16  r7, r5, ror #8
    sxtb16  r4, r4
    sxtb16  r5, r5
    stm     r12!, {r4-r7}
    cmp     r0, lr
    bne     .Ltwo
    pop     {r4-r7, pc}
    .size   cg_gather2_s8_dsp, . - cg_gather2_s8_dsp

    function cg_gather1_s8_dsp
    push    {r4, lr}
.Lone:
    ldr     r12, [r0], #4
    sxtb16  r4, r12
    sxtb16  r12, r12, ror #8
    str     r4, [r1]
    str     r12, [r1, r3]
    add     r1, r1, r3, lsl #1
    subs    r2, r2, #1
    bne     .Lone
    pop     {r4, pc}
    .size   cg_gather1_s8_dsp, . - cg_gather1_s8_dsp

    function cg_gather1_bytes_s8_dsp
    push    {r4-r7, lr}
    ldr     r12, [sp, #20]                  @ offsets
.Lone_bytes:
    ldrsh   r4, [r12], #2
    ldrsh   r5, [r12], #2
    ldrsh   r6, [r12], #2
    ldrsh   r7, [r12], #2
    ldrsb   r4, [r0, r4]
    ldrsb   r5, [r0, r5]
    ldrsb   r6, [r0, r6]
    ldrsb   r7, [r0, r7]
    pkhbt   r4, r4, r5, lsl #16
    pkhbt   r6, r6, r7, lsl #16
    str     r4, [r1]
    str     r6, [r1, r3]
    add     r1, r1, r3, lsl #1
    subs    r2, r2, #1
    bne     .Lone_bytes
    pop     {r4-r7, pc}
    .size   cg_gather1_bytes_s8_dsp, . - cg_gather1_bytes_s8_dsp
