@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise_taps_parts_s4_dsp.S -- the inner loop of depthwise convolution with nine taps and int4
 * weights on cores with the DSP extension: four channels of a pixel, straight from the image.
 *
 * Why assembly: see depthwise_taps_parts_dsp.S. A nibble in the upper bits of a half is 4096 times the
 * weight: AND with a shifted word makes the factors of a channel, and two taps take 18 instructions,
 * three more than with int16 weights. Layout of the weights: cg_depthwise_dsp.h.
 */
#include "cg_needs_dsp.h"
#include "cg_dw_taps_dsp.inc"

    .equ F_ZERO, 0
    .equ F_GROUPS, 4            /* groups to do of this pixel */
    .equ F_PIXELS, 8            /* pixels to do */
    .equ F_WEIGHTS, 12
    .equ FRAME, 16

/* Taps `tap` and `tap + 1`, times weights at r1; r2 is 0xF000F000. */
    .macro two_taps tap
    ldrd    r12, r8, [lr, #(TAPS_FIRST + 4 * \tap)]
    ldr     r12, [r12, r3]
    ldr     r8, [r8, r3]
    ldr     r10, [r1], #4
    pkhbt   r9, r12, r8, lsl #16
    pkhtb   r12, r8, r12, asr #16
    sxtb16  r8, r9
    and     r11, r2, r10
    .if \tap
    smlad   r4, r8, r11, r4
    .else
    smuad   r4, r8, r11
    .endif
    sxtb16  r9, r9, ror #8
    and     r11, r2, r10, lsl #4
    .if \tap
    smlad   r5, r9, r11, r5
    .else
    smuad   r5, r9, r11
    .endif
    sxtb16  r8, r12
    and     r11, r2, r10, lsl #8
    .if \tap
    smlad   r6, r8, r11, r6
    .else
    smuad   r6, r8, r11
    .endif
    sxtb16  r12, r12, ror #8
    and     r11, r2, r10, lsl #12
    .if \tap
    smlad   r7, r12, r11, r7
    .else
    smuad   r7, r12, r11
    .endif
    .endm

/* The results of two doubled sums, multipliers and shifts at r1, zero point r12. Changes r8-r11. */
    .macro store_results first, second
    ldm     r1!, {r8-r11}
    requantize_doubled \first, r8, r9, r12
    requantize_doubled \second, r10, r11, r12
    strb    \first, [r0], #1
    strb    \second, [r0], #1
    .endm

/*
 * void cg_dw_taps9_words_s4_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output)
 * `pixels` results, each of `groups` groups of four channels.
 */
    frame   cg_frame_cg_dw_taps9_words_s4_dsp, FRAME
    function cg_dw_taps9_words_s4_dsp
    enter
    strd    r4, r1, [sp, #F_PIXELS]
    pixels
2:
    str     r2, [sp, #F_GROUPS]
    mov     r2, #0xF000F000
    two_taps 0
    two_taps 2
    two_taps 4
    two_taps 6
    ldr     r12, [lr, #(TAPS_FIRST + 32)]
    ldr     r8, [r12, r3]
    ldr     r10, [r1], #4
    sxtb16  r9, r8, ror #8
    sxtb16  r8, r8
    and     r11, r2, r10, lsl #4
    and     r10, r2, r10
    add_tap
    ldm     r1!, {r8-r11}           @ biases
    add     r4, r8, r4, asr #11
    add     r5, r9, r5, asr #11
    add     r6, r10, r6, asr #11
    add     r7, r11, r7, asr #11
    ldrd    r12, r2, [sp, #F_ZERO]
    store_results r4, r5
    store_results r6, r7
    adds    r3, r3, #4
    subs    r2, r2, #1
    bne     2b
    next_pixel
    .size   cg_dw_taps9_words_s4_dsp, . - cg_dw_taps9_words_s4_dsp
