@ SPDX-License-Identifier: Apache-2.0
@ depthwise_block_s8_v7m.S -- all channels of four pixels of a depthwise convolution, of two or one,
@ on ARMv7-M: channel by channel, tap by tap, straight from the image.
@
@ Each tap of each pixel has an address of its own in a table, so that pixels at the border, whose
@ taps point to a pixel of padding, are computed as all others.
@
@ Why assembly: four sums, four addresses, weight, value, three pointers and a channel are all
@ fourteen registers. A tap takes 10 instructions for four pixels, 6 for two, 4 for one; a channel
@ 40, 27 and 19, and 2 more a turn of the loop over UNROLL taps, which is entered in the middle.
@
@ Contract, packing: cg_kernels_v7m.h, cg_v7m_parts.h. Words are accessed in the table of taps, the
@ channels, the description of the block and the stack only.
#include "cg_needs_v7m.h"
#include "cg_requantize_v7m.inc"

    @ Offsets in cg_block_v7m.
    .set BLOCK_CHANNELS, 4
    .set BLOCK_RANGE, 24

    .set UNROLL, 9

    @ Frame. The first three words are loaded together.
    .set F_OUTPUT, 0
    .set F_STEP, 4
    .set F_LAST, 8
    .set F_CHANNEL, 12
    .set F_TAPS, 16
    .set F_TAPS_END, 20
    .set F_ENTRY, 24
    .set F_BLOCK, 28
    .set F_SUMS, 32
    .set F_BYTES, 52

    @ r0 distance of the channel from the addresses, r1 weights, r2 taps, r3 weight, r4-r7 addresses,
    @ r8-r11 sums, r12 value, lr end of the taps.
    .macro tap pixels
    .if     \pixels == 4
    ldm     r2!, {r4-r7}
    .elseif \pixels == 2
    ldm     r2!, {r4, r5}
    .else
    ldr     r4, [r2], #4
    .endif
    ldrsb   r3, [r1], #1
    ldrsb   r12, [r4, r0]
    mla     r8, r3, r12, r8
    .if     \pixels > 1
    ldrsb   r12, [r5, r0]
    mla     r9, r3, r12, r9
    .endif
    .if     \pixels == 4
    ldrsb   r12, [r6, r0]
    mla     r10, r3, r12, r10
    ldrsb   r12, [r7, r0]
    mla     r11, r3, r12, r11
    .endif
    .endm

    @ name(block, output, first)
    .macro block name, pixels
    frame   cg_frame_\name, F_BYTES
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    str     r0, [sp, #F_BLOCK]
    mov     r12, r0
    mov     r0, r2
    ldm     r12, {r3, r4, r5, r6, r7, r8}   @ weights, channels, taps, count, step, last_step
    strd    r1, r7, [sp, #F_OUTPUT]
    str     r8, [sp, #F_LAST]
    mov     r1, r3
    ldr     r7, [r4], #4                    @ the first bias
    str     r4, [sp, #F_CHANNEL]
    .if     \pixels == 4
    add     lr, r5, r6, lsl #4
    .elseif \pixels == 2
    add     lr, r5, r6, lsl #3
    .else
    add     lr, r5, r6, lsl #2
    .endif
    strd    r5, lr, [sp, #F_TAPS]
.Lless_\name:                               @ taps of the first turn: 1 to UNROLL
    subs    r6, r6, #UNROLL
    bgt     .Lless_\name
    rsb     r6, r6, #0                      @ taps that are skipped
    movs    r8, #(.Lcheck_\name - .Lloop_\name) / UNROLL
    adr     r9, .Lloop_\name
    mla     r9, r6, r8, r9
    add     r9, r9, #1                      @ as BX wants it
    str     r9, [sp, #F_ENTRY]
.Lchannel_\name:
    mov     r8, r7
    .if     \pixels > 1
    mov     r9, r7
    .endif
    .if     \pixels == 4
    mov     r10, r7
    mov     r11, r7
    .endif
    ldrd    r2, lr, [sp, #F_TAPS]
    ldr     pc, [sp, #F_ENTRY]
    .balign 4
.Lloop_\name:
    .rept   UNROLL
    tap     \pixels
    .endr
.Lcheck_\name:
    cmp     r2, lr
    bne     .Lloop_\name
    ldr     r2, [sp, #F_CHANNEL]
    mvn     r3, #0xC0000000
    ldm     r2!, {r4-r7}                    @ multiplier, offset, shift, the next bias
    str     r2, [sp, #F_CHANNEL]
    lsls    r2, r6, #2                      @ carry: the long way; negative: the last channel
    bcs     .Lany_\name
    requantize_all r12, lr, r8
    .if     \pixels > 1
    requantize_all r12, lr, r9
    .endif
    .if     \pixels == 4
    requantize_all r12, lr, r10, r11
    .endif
.Lstore_\name:
    .if     \pixels == 4
    ldm     sp, {r2, r4, r5}
    strb    r9, [r2, r4]
    strb    r10, [r2, r4, lsl #1]
    strb    r11, [r2, r5]
    .else
    ldr     r2, [sp, #F_OUTPUT]
    .endif
    .if     \pixels == 2
    ldr     r5, [sp, #F_LAST]
    strb    r9, [r2, r5]
    .endif
    strb    r8, [r2], #1
    str     r2, [sp, #F_OUTPUT]
    add     r0, r0, r6, lsr #31             @ the next channel of the image, or the same
    bpl     .Lchannel_\name
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}

.Lany_\name:
    add     r12, sp, #F_SUMS
    .if     \pixels == 4
    stm     r12, {r8-r11}
    .else
    strd    r8, r9, [r12]
    .endif
    mov     r8, r0
    mov     r9, r1
    ldr     r0, [sp, #F_BLOCK]
    ldr     r0, [r0, #BLOCK_RANGE]
    mov     r1, r12
    requantize_any \pixels
    mov     r0, r8
    mov     r1, r9
    add     r12, sp, #F_SUMS
    .if     \pixels == 4
    ldm     r12, {r8-r11}
    .else
    ldrd    r8, r9, [r12]
    .endif
    lsls    r2, r6, #2
    b       .Lstore_\name
    .size   \name, . - \name
    .endm

    block   cg_depthwise4_s8_v7m, 4
    block   cg_depthwise2_s8_v7m, 2
    block   cg_depthwise1_s8_v7m, 1
