@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_narrow_parts_dsp.S -- the inner loop of depthwise convolution with nine taps and int8
 * weights on cores with the DSP extension: four channels of a pixel, straight from the image.
 *
 * Why assembly: see depthwise_taps_parts_dsp.S; two taps take 18 instructions here, three more than
 * with int16 weights, for 12 bytes less a channel. Layout of the weights: cg_depthwise_dsp.h.
 */
#include "cg_needs_dsp.h"
#include "cg_dw_taps_dsp.inc"

    .equ F_ZERO, 0
    .equ F_GROUPS, 4            /* groups to do of this pixel */
    .equ F_PIXELS, 8            /* pixels to do */
    .equ F_WEIGHTS, 12
    .equ FRAME, 16

/* Taps `tap` and `tap + 1`. */
    .macro two_taps tap
    ldrd    r12, r8, [lr, #(TAPS_FIRST + 4 * \tap)]
    load_two_taps
    sxtb16  r8, r9
    sxtb16  r2, r10
    smlad   r4, r8, r2, r4
    sxtb16  r9, r9, ror #8
    sxtb16  r10, r10, ror #8
    smlad   r5, r9, r10, r5
    sxtb16  r8, r12
    sxtb16  r2, r11
    smlad   r6, r8, r2, r6
    sxtb16  r12, r12, ror #8
    sxtb16  r11, r11, ror #8
    smlad   r7, r12, r11, r7
    .endm

/*
 * The result of a sum, multiplier at r1, which moves on by `advance`, shift in the lowest byte of r11,
 * zero point r12. Changes r10.
 */
    .macro store_result sum, advance
    ldr     r10, [r1], #\advance
    requantize \sum, r10, r11, r12
    strb    \sum, [r0], #1
    .endm

/*
 * void cg_dw_narrow9_words_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output)
 * `pixels` results, each of `groups` groups of four channels.
 */
    frame   cg_frame_cg_dw_narrow9_words_dsp, FRAME
    function cg_dw_narrow9_words_dsp
    enter
    strd    r4, r1, [sp, #F_PIXELS]
    pixels
2:
    str     r2, [sp, #F_GROUPS]
    ldm     r1!, {r4-r7}
    two_taps 0
    two_taps 2
    two_taps 4
    two_taps 6
    ldr     r12, [lr, #(TAPS_FIRST + 32)]
    ldr     r8, [r12, r3]
    ldr     r10, [r1], #4
    sxtb16  r9, r8, ror #8
    sxtb16  r8, r8
    sxtb16  r11, r10, ror #8
    sxtb16  r10, r10
    add_tap
    ldr     r11, [r1, #16]
    ldrd    r12, r2, [sp, #F_ZERO]
    store_result r4, 4
    lsrs    r11, r11, #8
    store_result r5, 4
    lsrs    r11, r11, #8
    store_result r6, 4
    lsrs    r11, r11, #8
    store_result r7, 8
    adds    r3, r3, #4
    subs    r2, r2, #1
    bne     2b
    next_pixel
    .size   cg_dw_narrow9_words_dsp, . - cg_dw_narrow9_words_dsp
