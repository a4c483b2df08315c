@ SPDX-License-Identifier: Apache-2.0
@ conv_tile_s8_v7m.S -- all channels of four packed pixels, or of two, on ARMv7-M.
@
@ Two pixels lie in one word, x0 + (x1 << 16); MLA with a weight makes both products. A word of sums
@ starts at 0xFFFF7FFF, so that after a run of weights, which the packing keeps short enough, its low
@ half is the lower pixel's sum plus 32767 in 16 bits and its high half the upper one's less 1. Then
@ two additions take it apart: the words are added up as they are, and so are their high halves;
@ one less the other shifted is the lower pixel's sum. The constants are in the channel's first
@ values.
@
@ Why assembly: fourteen registers are in use, gcc spills. Two weights take 7 instructions for four
@ pixels (0.875 a multiply-accumulate) and 5 for two; a run 8 and 6 more; a channel 41 and 28.
@
@ Contract, packing: cg_kernels_v7m.h, cg_v7m_parts.h. Words are accessed in the pixels, the channels,
@ the description of the tile and the stack only.
#include "cg_needs_v7m.h"
#include "cg_requantize_v7m.inc"

    @ Offsets in cg_tile_v7m: pixels, weights, channels, range.
    .set TILE_RANGE, 12

    .set RUN_PAIRS, 8

    @ Frame. The first four words are loaded together.
    .set F_OUTPUTS, 0
    .set F_STEPS, 8
    .set F_PIXELS, 16
    .set F_CHANNEL, 20
    .set F_TILE, 24
    .set F_SUMS, 28
    .set F_BYTES, 44

    @ r0 pixels, r1 weights, r2 weight, r3 first value, r4-r7 pixels, r8 r9 sums of a run,
    @ r10 r11 sums of the first two pixels, r12 lr of the others.

    @ The next weight times two words of pixels, to r8 and r9, which begin with \start0 and \start1.
    @ Changes r2.
    .macro weight_of_4 first, second, start0, start1
    ldrsb   r2, [r1], #1
    mla     r8, r2, \first, \start0
    mla     r9, r2, \second, \start1
    .endm

    @ Two weights times \pixels pixels, to r8 (and r9). Changes r2, r4-r7.
    .macro pair_of_weights pixels, start0=r8, start1=r9
    .if     \pixels == 4
    ldm     r0!, {r4-r7}
    weight_of_4 r4, r5, \start0, \start1
    weight_of_4 r6, r7, r8, r9
    .else
    ldm     r0!, {r4, r5}
    ldrsb   r2, [r1], #1
    mla     r8, r2, r4, \start0
    ldrsb   r2, [r1], #1
    mla     r8, r2, r5, r8
    .endif
    .endm

    @ The function \name(tile, output, step, last_step).
    .macro tile name, pixels
    frame   cg_frame_\name, F_BYTES
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    add     r4, r1, r2, lsl #1
    strd    r1, r4, [sp, #F_OUTPUTS]
    strd    r2, r3, [sp, #F_STEPS]
    str     r0, [sp, #F_TILE]
    mov     r4, r0
    ldm     r4, {r0, r1, r4}                @ pixels, weights, channels
    str     r0, [sp, #F_PIXELS]
.Lchannel_\name:
    ldrd    r10, r11, [r4], #8
    str     r4, [sp, #F_CHANNEL]
    mvn     r3, #0x8000
    .if     \pixels == 4
    mov     r12, r10
    mov     lr, r11
    .endif
.Lrun_\name:
    pair_of_weights \pixels, r3, r3
    ldrb    r2, [r1], #1
    lsrs    r2, r2, #1                      @ carry: the last run
    tbb     [pc, r2]
.Ltable_\name:
    .set    rest, RUN_PAIRS - 1
    .rept   RUN_PAIRS
    .byte   (.Lpairs_\name - .Ltable_\name + rest * (.Lsplit_\name - .Lpairs_\name) / (RUN_PAIRS - 1)) / 2
    .set    rest, rest - 1
    .endr
.Lpairs_\name:
    .rept   RUN_PAIRS - 1
    pair_of_weights \pixels
    .endr
.Lsplit_\name:
    add     r10, r10, r8
    add     r11, r11, r8, asr #16
    .if     \pixels == 4
    add     r12, r12, r9
    add     lr, lr, r9, asr #16
    .endif
    bcc     .Lrun_\name
    ldr     r0, [sp, #F_CHANNEL]
    sub     r10, r10, r11, lsl #16
    .if     \pixels == 4
    sub     r12, r12, lr, lsl #16
    .endif
    ldm     r0!, {r4-r6}
    str     r0, [sp, #F_CHANNEL]
    mvn     r3, #0xC0000000
    lsls    r7, r6, #2                      @ carry: the long way; negative: the last channel
    bcs     .Lany_\name
    requantize_all r7, r8, r10, r11
    .if     \pixels == 4
    requantize_all r7, r8, r12, lr
    .endif
.Lstore_\name:
    .if     \pixels == 4
    ldm     sp, {r4-r7}
    strb    r10, [r4]
    strb    r11, [r4, r6]
    strb    r12, [r5]
    strb    lr, [r5, r7]
    add     r5, r5, #1
    add     r4, r4, #1
    strd    r4, r5, [sp, #F_OUTPUTS]
    .else
    ldr     r4, [sp, #F_OUTPUTS]
    ldr     r6, [sp, #F_STEPS]
    strb    r11, [r4, r6]
    strb    r10, [r4], #1
    str     r4, [sp, #F_OUTPUTS]
    .endif
    mov     r4, r0
    ldr     r0, [sp, #F_PIXELS]
    bpl     .Lchannel_\name
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}

.Lany_\name:
    .if     \pixels == 4
    strd    r12, lr, [sp, #F_SUMS + 8]
    .endif
    strd    r10, r11, [sp, #F_SUMS]
    mov     r8, r0
    mov     r9, r1
    ldr     r0, [sp, #F_TILE]
    ldr     r0, [r0, #TILE_RANGE]
    add     r1, sp, #F_SUMS
    requantize_any \pixels
    mov     r0, r8
    mov     r1, r9
    lsls    r7, r6, #2
    ldrd    r10, r11, [sp, #F_SUMS]
    .if     \pixels == 4
    ldrd    r12, lr, [sp, #F_SUMS + 8]
    .endif
    b       .Lstore_\name
    .size   \name, . - \name
    .endm

    tile    cg_conv_tile4_s8_v7m, 4
    tile    cg_conv_tile2_s8_v7m, 2

@ ---- packing pixels -------------------------------------------------------------------------

    @ cg_gather4_s8_v7m(source, pixels, count, step, last_step)
    function cg_gather4_s8_v7m
    push    {r4-r10, lr}
    ldr     r4, [sp, #32]
    mov     r12, r1
    subs    lr, r2, #2
    add     r1, r0, r3
    add     r2, r1, r3
    add     r3, r2, r4
    blt     .Lodd4
.Lgather4:
    ldrsb   r4, [r0], #1
    ldrsb   r8, [r1], #1
    ldrsb   r5, [r2], #1
    ldrsb   r9, [r3], #1
    ldrsb   r6, [r0], #1
    ldrsb   r10, [r1], #1
    ldrsb   r7, [r2], #1
    add     r4, r4, r8, lsl #16
    ldrsb   r8, [r3], #1
    add     r5, r5, r9, lsl #16
    add     r6, r6, r10, lsl #16
    add     r7, r7, r8, lsl #16
    stm     r12!, {r4-r7}
    subs    lr, lr, #2
    bge     .Lgather4
.Lodd4:
    tst     lr, #1
    beq     .Ldone4
    ldrsb   r4, [r0]
    ldrsb   r8, [r1]
    ldrsb   r5, [r2]
    ldrsb   r9, [r3]
    add     r4, r4, r8, lsl #16
    add     r5, r5, r9, lsl #16
    strd    r4, r5, [r12]
.Ldone4:
    pop     {r4-r10, pc}
    .size   cg_gather4_s8_v7m, . - cg_gather4_s8_v7m

    @ cg_gather2_s8_v7m(source, pixels, count, step)
    function cg_gather2_s8_v7m
    push    {r4, lr}
    add     r3, r0, r3
.Lgather2:
    ldrsb   r12, [r0], #1
    ldrsb   r4, [r3], #1
    subs    r2, r2, #1
    add     r12, r12, r4, lsl #16
    str     r12, [r1], #4
    bne     .Lgather2
    pop     {r4, pc}
    .size   cg_gather2_s8_v7m, . - cg_gather2_s8_v7m
