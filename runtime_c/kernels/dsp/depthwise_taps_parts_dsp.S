@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_taps_parts_dsp.S -- the inner loops of depthwise convolution with any window on cores
 * with the DSP extension: four channels of a pixel, tap by tap, straight from the image.
 *
 * Why assembly: four accumulators, weights, pixels and four pointers are all fourteen registers;
 * two taps take 15 instructions here, 30 with intrinsics and gcc 12 at -O2 or -O3.
 *
 * The weights of a group are read front to back: four biases (doubled), per two taps a and b the
 * int16 pairs {a, b} of each channel (doubled), of a single last tap {channel 0, channel 2} and
 * {1, 3}, then per channel multiplier and right shift.
 */
#include "cg_dw_taps_dsp.inc"

    .equ F_ZERO, 0
    .equ F_GROUPS, 4            /* groups to do of this pixel */
    .equ F_PIXELS, 8            /* pixels to do */
    .equ F_TAPS, 12             /* cg_dw_taps */
    .equ F_WEIGHTS, 16
    .equ F_END, 20              /* behind the last tap */
    .equ FRAME, 24

/* The result of a doubled sum, multiplier and shift at r1, zero point r12. Changes r10, r11. */
    .macro store_result sum
    ldrd    r10, r11, [r1], #8
    requantize_doubled \sum, r10, r11, r12
    strb    \sum, [r0], #1
    .endm

/* The taps at r12 and r8 (plus r3), weights at r1. */
    .macro two_taps bytewise
    .if \bytewise
    add     r12, r12, r3
    add     r8, r8, r3
    ldrd    r10, r11, [r1], #8
    ldrsb   r9, [r12]
    smlabb  r4, r9, r10, r4
    ldrsb   r9, [r8]
    smlabt  r4, r9, r10, r4
    ldrsb   r9, [r12, #1]
    smlabb  r5, r9, r11, r5
    ldrsb   r9, [r8, #1]
    smlabt  r5, r9, r11, r5
    ldrd    r10, r11, [r1], #8
    ldrsb   r9, [r12, #2]
    smlabb  r6, r9, r10, r6
    ldrsb   r9, [r8, #2]
    smlabt  r6, r9, r10, r6
    ldrsb   r9, [r12, #3]
    smlabb  r7, r9, r11, r7
    ldrsb   r9, [r8, #3]
    smlabt  r7, r9, r11, r7
    .else
    load_two_taps
    sxtb16  r8, r9
    sxtb16  r9, r9, ror #8
    smlad   r4, r8, r10, r4
    smlad   r5, r9, r11, r5
    ldrd    r10, r11, [r1], #8
    sxtb16  r8, r12
    sxtb16  r9, r12, ror #8
    smlad   r6, r8, r10, r6
    smlad   r7, r9, r11, r7
    .endif
    .endm

/* The tap at r12 (plus r3). */
    .macro one_tap bytewise
    .if \bytewise
    add     r12, r12, r3
    ldrsb   r8, [r12]
    ldrsb   r9, [r12, #1]
    ldrd    r10, r11, [r1], #8
    smlabb  r4, r8, r10, r4
    smlabb  r5, r9, r11, r5
    ldrsb   r8, [r12, #2]
    ldrsb   r9, [r12, #3]
    smlabt  r6, r8, r10, r6
    smlabt  r7, r9, r11, r7
    .else
    ldr     r8, [r12, r3]
    ldrd    r10, r11, [r1], #8
    sxtb16  r9, r8, ror #8
    sxtb16  r8, r8
    add_tap
    .endif
    .endm

/*
 * void name(const cg_dw_taps *taps, const int32_t *weights, int8_t *output)
 * Nine taps, or an even number of them; `pixels` results, each of `groups` groups of four channels,
 * the last group `back` channels back.
 */
    .macro taps name, unrolled, bytewise
    frame   cg_frame_\name, FRAME
    function \name
    enter
    str     r4, [sp, #F_PIXELS]
    strd    r0, r1, [sp, #F_TAPS]
    ldr     r4, [r0, #TAPS_COUNT]
    add     r4, r0, r4, lsl #2
    adds    r4, r4, #TAPS_FIRST
    str     r4, [sp, #F_END]
    pixels
    str     r2, [sp, #F_GROUPS]
2:
    .if \bytewise
    cmp     r2, #1
    bne     3f
    ldr     r2, [lr, #TAPS_BACK]
    subs    r3, r3, r2
    subs    r0, r0, r2
3:
    .endif
    ldm     r1!, {r4-r7}
    .if \unrolled
    .set tap, 0
    .rept (\unrolled / 2)
    ldrd    r12, r8, [lr, #(TAPS_FIRST + 4 * tap)]
    two_taps \bytewise
    .set tap, tap + 2
    .endr
    ldr     r12, [lr, #(TAPS_FIRST + 4 * tap)]
    one_tap \bytewise
    .else
    add     r2, lr, #TAPS_FIRST
    ldr     lr, [sp, #F_END]
4:
    ldrd    r12, r8, [r2], #8
    two_taps \bytewise
    cmp     r2, lr
    bne     4b
    ldr     lr, [sp, #F_TAPS]
    .endif
    ldrd    r12, r2, [sp, #F_ZERO]
    store_result r4
    store_result r5
    store_result r6
    store_result r7
    adds    r3, r3, #4
    subs    r2, r2, #1
    str     r2, [sp, #F_GROUPS]
    bne     2b
    next_pixel \name
    .endm

    taps    cg_dw_taps9_words_dsp, 9, 0
    taps    cg_dw_taps9_bytes_dsp, 9, 1
    taps    cg_dw_taps_words_dsp, 0, 0
    taps    cg_dw_taps_bytes_dsp, 0, 1
