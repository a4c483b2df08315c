@ SPDX-License-Identifier: Apache-2.0
@ gather_rgb_s8_dsp.S -- the 3x3 windows, stride 2, of four pixels of an image of three channels, widened
@ to int16 for tile4_joined_s8_dsp.S, DSP extension.
@
@ Assembly, because six words of a row give the eight first values of all four windows without one byte
@ being read by itself, if nothing is spilled: 123 instructions a tile, 244 by a table of offsets.
@ Contract: cg_conv_dsp_parts.h.
#include "cg_asm.inc"

    @ Words of four bytes, one a pixel, widened: bytes 0 and 2 of each, then bytes 1 and 3. Changes r1, r8,
    @ r9, lr, a to d.
    .macro two_pairs a, b, c, d
    sxtb16  r1, \a
    sxtb16  r8, \b
    sxtb16  r9, \c
    sxtb16  lr, \d
    stm     r2!, {r1, r8, r9, lr}
    sxtb16  \a, \a, ror #8
    sxtb16  \b, \b, ror #8
    sxtb16  \c, \c, ror #8
    sxtb16  \d, \d, ror #8
    stm     r2!, {\a, \b, \c, \d}
    .endm

    @ A row of the four windows at r0 to the four groups of pairs at r2, which moves on: {x0 x4} {x1 x5}
    @ {x2 x6} {x3 x7} of each pixel; its x8 by `store` to r2 (as it was) + last. Changes r1,
    @ r3-r12, lr.
    .macro row_of_windows store, last
    ldm     r0, {r4-r9}
    ldrh    r10, [r0, #24]
    ldrsb   r11, [r0, #26]
    sxtb    r12, r6
    \store  r12, [r2, #(\last)]
    sxtb    r12, r7, ror #16
    \store  r12, [r2, #(\last + 4)]
    sxtb    r12, r9
    \store  r12, [r2, #(\last + 8)]
    \store  r11, [r2, #(\last + 12)]
    @ Two bytes of the first four values and two of the next four in one word: r3 r5 r11 r12 have x0 x1
    @ x4 x5 of the four pixels, r4 r6 r7 r10 x2 x3 x6 x7.
    pkhbt   r3, r4, r5, lsl #16
    pkhtb   r4, r5, r4, asr #16
    pkhtb   r5, r6, r5, asr #16
    pkhbt   r6, r6, r7, lsl #16
    pkhbt   r11, r7, r8, lsl #16
    pkhtb   r7, r8, r7, asr #16
    pkhtb   r12, r9, r8, asr #16
    pkhbt   r10, r9, r10, lsl #16
    two_pairs r3, r5, r11, r12
    two_pairs r4, r6, r7, r10
    .endm

    @ To the next row: by the frame's first word. Changes r1.
    .macro next_row
    ldr     r1, [sp]
    add     r0, r0, r1
    .endm

/* void cg_gather4_rgb_s8_dsp(const int8_t *source, int32_t row_bytes, int32_t *pixels) */
    function cg_gather4_rgb_s8_dsp
    push    {r1, r4-r11, lr}
    row_of_windows strh, 192
    next_row
    row_of_windows strh, 130
    next_row
    row_of_windows str, 80
    pop     {r1, r4-r11, pc}
    .size   cg_gather4_rgb_s8_dsp, . - cg_gather4_rgb_s8_dsp
