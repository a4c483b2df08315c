@ SPDX-License-Identifier: Apache-2.0
@ tile4_s8_dsp.S -- all output channels of four widened pixels, int8, DSP extension.
@
@ Assembly, because the inner loop of four pixels by two channels needs all fourteen registers:
@ eight sums, two words of pixels, two of weights, two addresses. 13 instructions for 16
@ multiply-accumulates (0.81 each); gcc 12 spills sums and takes 1.3. A pair of channels takes 59
@ instructions more, and 3 a turn of the loop. Registers: cg_tile4_dsp.inc.
#include "cg_tile_dsp.inc"
#include "cg_tile4_dsp.inc"

    @ Frame. The first four words are the addresses that the next results go to.
    .set F4_PIXELS, 16
    .set F4_PAIRS_END, 20
    .set F4_OUT_ZERO, 24
    .set F4_ENTRY, 28
    .set F4_PIXELS_END, 32
    .set F4_TILE, 36
    .set F4_SUMS, 40
    .set F4_BYTES, 76

    frame cg_frame_cg_tile4_s8_dsp, F4_BYTES
    function cg_tile4_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F4_BYTES
    str     r0, [sp, #F4_TILE]
    keep_outputs
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    add     r8, r0, r6, lsl #5
    subs    r6, r6, #1                      @ the first group stands in front of the loop
    and     r6, r6, #UNROLL - 1
    adr.w   r9, .Lcheck4
    movs    r10, #(.Lcheck4 - .Lloop4) / UNROLL
    mls     r9, r6, r10, r9
    adds    r9, r9, #1                      @ Thumb
    add     r4, sp, #F4_PIXELS
    stm     r4, {r0, r5, r7, r9}
    str     r8, [sp, #F4_PIXELS_END]
    cmp     r1, r5
    beq.w   .Lodd4
.Lpair4:
    ldrd    r2, r6, [r1], #8                @ biases: the first group adds them to its sums
    ldr     r12, [r1], #4
    ldrd    r10, r11, [r0, #8]
    sxtb16  lr, r12, ror #8
    sxtb16  r12, r12
    smlad   r4, r10, r12, r2
    smlad   r8, r10, lr, r6
    smlad   r5, r11, r12, r2
    smlad   r9, r11, lr, r6
    ldrd    r10, r11, [r0], #16
    smlad   r3, r11, r12, r2
    smlad   r7, r11, lr, r6
    smlad   r2, r10, r12, r2
    smlad   r6, r10, lr, r6
    two_values_of_four
    ldr     pc, [sp, #F4_ENTRY]
.Lloop4:
    .rept   UNROLL
    two_values_of_four
    two_values_of_four
    .endr
.Lcheck4:
    ldr     r12, [sp, #F4_PIXELS_END]
    cmp     r0, r12
    bne.w   .Lloop4
    ldm     r1!, {r10, r11, r12}
    lsrs    lr, r12, #8                     @ carry: bit 7
    bcs     .Lany4
    ldr     r0, [sp, #F4_OUT_ZERO]
    requantize_all r10, r12, r0, r2, r3, r4, r5
    requantize_all r11, lr, r0, r6, r7, r8, r9
.Lstore4:
    ldm     sp, {r0, r10, r11, r12}
    strb    r2, [r0], #1
    strb    r6, [r0], #1
    strb    r3, [r10], #1
    strb    r7, [r10], #1
    strb    r4, [r11], #1
    strb    r8, [r11], #1
    strb    r5, [r12], #1
    strb    r9, [r12], #1
    stm     sp, {r0, r10, r11, r12}
    ldrd    r0, r12, [sp, #F4_PIXELS]       @ and F4_PAIRS_END
    cmp     r1, r12
    bne.w   .Lpair4
.Lodd4:
    ldr     r2, [sp, #F4_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    beq     .Ldone4
    ldr     r10, [sp, #F4_PIXELS_END]
    ldr     r2, [r1], #4
    mov     r3, r2
    mov     r4, r2
    mov     r5, r2
.Lloop_odd4:
    ldr     r12, [r1], #4
    ldm     r0!, {r6-r9}
    sxtb16  lr, r12
    sxtb16  r12, r12, ror #8
    smlad   r2, r6, lr, r2
    smlad   r3, r7, lr, r3
    smlad   r4, r8, lr, r4
    smlad   r5, r9, lr, r5
    ldm     r0!, {r6-r9}
    smlad   r2, r6, r12, r2
    smlad   r3, r7, r12, r3
    smlad   r4, r8, r12, r4
    smlad   r5, r9, r12, r5
    cmp     r0, r10
    bne     .Lloop_odd4
    ldm     r1!, {r10, r12}
    lsrs    lr, r12, #8
    bcs     .Lany_odd4
    ldr     r0, [sp, #F4_OUT_ZERO]
    requantize_all r10, r12, r0, r2, r3, r4, r5
.Lstore_odd4:
    ldm     sp, {r0, r10, r11, r12}
    strb    r2, [r0]
    strb    r3, [r10]
    strb    r4, [r11]
    strb    r5, [r12]
.Ldone4:
    add     sp, sp, #F4_BYTES
    pop     {r4-r11, pc}

.Lany4:
    add     r0, sp, #F4_SUMS
    stm     r0, {r2-r9}
    mov     r4, r1
    mov     r5, lr
    requantize_any F4_TILE, F4_SUMS, r10, r12, 4
    requantize_any F4_TILE, F4_SUMS + 16, r11, r5, 4
    mov     r1, r4
    add     r0, sp, #F4_SUMS
    ldm     r0, {r2-r9}
    b       .Lstore4
.Lany_odd4:
    add     r0, sp, #F4_SUMS
    stm     r0, {r2-r5}
    requantize_any F4_TILE, F4_SUMS, r10, r12, 4
    add     r0, sp, #F4_SUMS
    ldm     r0, {r2-r5}
    b       .Lstore_odd4
    .size   cg_tile4_s8_dsp, . - cg_tile4_s8_dsp

