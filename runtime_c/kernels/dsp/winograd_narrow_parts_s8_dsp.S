@ SPDX-License-Identifier: Apache-2.0
@ winograd_narrow_parts_s8_dsp.S -- F(2x2, 3x3) on int8 images by weights that stay int8 in flash, DSP
@ extension: four result channels' weights transformed, their products and results.
@
@ 31 instructions for the 16 weights of a pair of image channels and a result channel. Layouts and
@ contracts: cg_winograd_parts_dsp.h.
    .set INTERLEAVED, 1
#include "cg_needs_dsp.h"
#include "cg_winograd2_dsp.inc"

    @ Bytes from a row of U to the next one in a column, from a column to the next one, and from a pair of
    @ channels to the next one.
    .set ROW, 16
    .set COLUMN, 64
    .set PAIR, 256

    @ A column of U from three taps, rows 1 2 3 (negated) 0 to \to in r0. Changes r1 and the taps.
    .macro column a, b, c, to
    sadd16  r1, \a, \c
    ssub16  \c, \a, \c
    ssub16  \c, \c, r1
    sadd16  \a, \a, \a
    str     \c, [r0, #(\to + 2 * ROW)]
    str     \a, [r0, #(\to + 3 * ROW)]
    sadd16  \a, r1, \b
    ssub16  r1, r1, \b
    str     \a, [r0, #\to]
    str     r1, [r0, #(\to + ROW)]
    .endm

    @ A row of taps: their sum to \sum, with the middle one taken off in its place. Changes r1.
    .macro row a, b, c, sum
    sadd16  r1, \a, \c
    sadd16  \sum, r1, \b
    ssub16  \b, r1, \b
    .endm

    @ Bytes 0 and 2, or 1 and 3, of nine words of taps: U of this pair of channels, to r0. Changes r1-r12,
    @ lr.
    .macro pair odd
    .irp    word, r2, r3, r4, r5, r6, r7, r8, r9, r10
    .if     \odd
    sxtb16  \word, \word, ror #8
    .else
    sxtb16  \word, \word
    .endif
    .endr
    row     r2, r3, r4, r11
    row     r5, r6, r7, r12
    row     r8, r9, r10, lr
    column  r11, r12, lr, \odd * PAIR
    column  r3, r6, r9, \odd * PAIR + COLUMN
    column  r2, r5, r8, \odd * PAIR + 2 * COLUMN
    column  r4, r7, r10, \odd * PAIR + 3 * COLUMN
    .endm

    .set W_FROM, 0
    .set W_GROUPS, 4
    .set W_CHANNELS, 8
    .set W_BYTES, 12

/* const int8_t *cg_winograd_filters_s8_dsp(const int8_t *weights, int32_t groups, int32_t *pairs) */
    frame   cg_frame_cg_winograd_filters_s8_dsp, W_BYTES
    function cg_winograd_filters_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #W_BYTES
    strd    r0, r1, [sp, #W_FROM]
    mov     r0, r2
.Lgroup:
    movs    r1, #4
    str     r1, [sp, #W_CHANNELS]
.Lchannel:
    ldr     r1, [sp, #W_FROM]
    ldm     r1, {r2-r10}
    pair    0
    ldr     r1, [sp, #W_FROM]
    ldm     r1!, {r2-r10}
    str     r1, [sp, #W_FROM]
    pair    1
    adds    r0, r0, #4
    ldr     r1, [sp, #W_CHANNELS]
    subs    r1, r1, #1
    str     r1, [sp, #W_CHANNELS]
    bne.w   .Lchannel
    add     r0, r0, #(2 * PAIR - 16)
    ldr     r1, [sp, #W_GROUPS]
    subs    r1, r1, #1
    str     r1, [sp, #W_GROUPS]
    bne.w   .Lgroup
    ldr     r0, [sp, #W_FROM]
    add     sp, sp, #W_BYTES
    pop     {r4-r11, pc}
    .size cg_winograd_filters_s8_dsp, . - cg_winograd_filters_s8_dsp

/* void cg_winograd_narrow_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel) */
    tiles_of_two cg_winograd_narrow_tiles_s8_dsp
