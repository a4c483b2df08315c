@ SPDX-License-Identifier: Apache-2.0
@ depthwise3x3_widen_s4_dsp.S -- int4 weights of four channels of a 3x3 window as the loops of int8 read
@ them, DSP extension: 31 instructions a channel (contract: cg_depthwise_dsp.h).
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

    @ void cg_dw3x3_widen_s4_dsp(const int32_t *packed, int32_t *channels)
    function cg_dw3x3_widen_s4_dsp
    push    {r4-r11, lr}
    add     r2, r0, #48             @ right shifts
    add     r3, r0, #16             @ behind the last bias
    ldr     lr, [r0, #52]           @ ninth weights
1:  ldr     r4, [r0, #32]
    sbfx    r5, r4, #0, #4
    sbfx    r6, r4, #4, #4
    sbfx    r7, r4, #8, #4
    sbfx    r8, r4, #12, #4
    sbfx    r9, r4, #16, #4
    sbfx    r10, r4, #20, #4
    sbfx    r11, r4, #24, #4
    asr     r4, r4, #28
    sbfx    r12, lr, #0, #4
    lsr     lr, lr, #4
    lsl     r5, r5, #1              @ doubled, but for those that PKHBT doubles
    lsl     r6, r6, #1
    lsl     r8, r8, #1
    lsl     r9, r9, #1
    lsl     r11, r11, #1
    lsl     r4, r4, #1
    pkhbt   r5, r5, r6, lsl #16
    pkhbt   r6, r6, r7, lsl #17
    pkhbt   r7, r8, r9, lsl #16
    pkhbt   r8, r9, r10, lsl #17
    pkhbt   r9, r11, r4, lsl #16
    pkhbt   r10, r4, r12, lsl #17
    ldr     r12, [r0, #16]          @ multiplier
    ldr     r11, [r0], #4           @ bias
    ldrb    r4, [r2], #1
    stm     r1!, {r5-r12}
    str     r4, [r1], #4
    cmp     r0, r3
    bne     1b
    pop     {r4-r11, pc}
    .size   cg_dw3x3_widen_s4_dsp, . - cg_dw3x3_widen_s4_dsp
