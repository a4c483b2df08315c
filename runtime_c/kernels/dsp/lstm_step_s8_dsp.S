@ SPDX-License-Identifier: Apache-2.0
@ lstm_step_s8_dsp.S -- one step of all LSTM units of a batch, int8, DSP extension (contract:
@ cg_lstm_dsp.h, lstm_s8_dsp.c).
@
@ Assembly, because the inner loop needs thirteen registers: four sums, two words of values, four of
@ weights, two addresses, the end. 14 instructions for 16 multiply-accumulates (0.875), and two a
@ turn of four groups. All else of a unit takes 144 instructions: eight requantizations of five, five
@ activations of eight or nine.
@
@ The table of sigmoids is interpolated between neighbours 2^9 apart; its values times 2^9 are what
@ TFLite has for the argument's magnitude, with the argument's sign. Of a negative one it then rounds
@ what is one less. Tanh is taken of twice the argument, so that neighbours are 2^9 apart as well.
#include "cg_needs_dsp.h"
#include "cg_requantize_dsp.inc"

    @ Groups of four values in a turn of the loops, which are entered in the middle.
    .set UNROLL, 4

    @ cg_lstm_step_dsp, in words: pixels, groups of inputs, groups, sigmoids, sequence; then these.
    .set STEP_CELL, 20

    @ Frame. Words from F_FIRST on are loaded together.
    .set F_FIRST, 0
    .set F_TABLE, 16
    .set F_FACTORS, 20
    .set F_SIGMOID_HALF, 24
    .set F_TANH_HALF, 28
    .set F_PIXELS, 32
    .set F_END_SEQUENCE, 36
    .set F_END, 40
    .set F_ENTRY_SEQUENCE, 44
    .set F_ENTRY, 48
    .set F_SEQUENCE, 52
    .set F_RECURRENT, 56
    .set F_NUMBERS, 60
    .set F_CELL, 64
    .set F_HIDDEN, 68
    .set F_UNITS, 72
    .set F_BYTES, 76

    @ Entry into a loop of `groups`: its check, less (groups modulo UNROLL) groups; an
    @ address to branch to, bit 0 set. Changes r12.
    .macro entry_of entry, groups, loop, check
    adr.w   \entry, \check
    and     r12, \groups, #UNROLL - 1
    movs    r11, #(\check - \loop) / UNROLL
    mls     \entry, r12, r11, \entry
    add     \entry, \entry, #1
    .endm

    @ Two values by the weights of two gates, to the sums `low` and `both`. Changes the weights.
    .macro two_gates values, weights, low, both
    smlad   \both, \values, \weights, \both
    sxtb16  \weights, \weights
    smlad   \low, \values, \weights, \low
    .endm

    @ The loop over groups from r0 to lr, weights from r1 on, sums r2-r5: enters at the word `entry`
    @ of the frame, leaves the sums of four gates. Changes r6-r11.
    .macro products name, entry
    ldm     r1!, {r2-r5}
    ldr     pc, [sp, #\entry]
.Lloop_\name:
    .rept   UNROLL
    ldm.w   r1!, {r8-r11}
    ldrd    r6, r7, [r0], #8
    two_gates r6, r8, r2, r3
    two_gates r6, r9, r4, r5
    two_gates r7, r10, r2, r3
    two_gates r7, r11, r4, r5
    .endr
.Lcheck_\name:
    cmp     r0, lr
    bne.w   .Lloop_\name
    sub     r3, r3, r2
    sub     r5, r5, r4
    asr     r3, r3, #8
    asr     r5, r5, #8
    .endm

    @ sum * m / 2^31 / 2^shift, to int16.
    .macro requantize_s16 sum, multiplier, shift
    scale   \sum, \multiplier, \shift, #0
    ssat    \sum, #16, \sum
    .endm

    @ The sums of four gates by the scales from lr on. Changes r6-r11, r12, lr.
    .macro requantize_gates
    ldm     lr, {r6-r12, lr}
    requantize_s16 r2, r6, r10
    requantize_s16 r3, r7, r11
    requantize_s16 r4, r8, r12
    requantize_s16 r5, r9, lr
    .endm

    @ x = table(x / 2^9) * 2^9, plus what rounds it, less one where x is negative; r10 table, r11 has
    @ 2^9 in its lower half. Changes r6-r8.
    .macro interpolate x, half
    asr     r6, \x, #9
    ldr     r6, [r10, r6, lsl #2]
    ubfx    r7, \x, #0, #9
    smlabt  r7, r7, r6, \half
    smlabb  r7, r6, r11, r7
    add     \x, r7, \x, asr #31
    .endm

    @ 2^15 / (1 + exp(-x / 2^12)) of the lower half of x; above 2^9 r11 has 3, r12 is 2^24 + 2^9.
    @ Changes r6-r8.
    .macro sigmoid x
    smulbt  \x, \x, r11
    interpolate \x, r12
    asr     \x, \x, #10
    .endm

    @ 2^15 * tanh(x / 2^12 / 3); lr is 2^8. Changes r6-r8.
    .macro tangent_of_scaled x
    ssat    \x, #18, \x, lsl #1
    interpolate \x, lr
    asr     \x, \x, #9
    .endm

    frame   cg_frame_cg_lstm_step_s8_dsp, F_BYTES
    function cg_lstm_step_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F_BYTES
    ldm     r0, {r2, r3, r4, r5, r6}        @ pixels, groups of inputs, groups, sigmoids, scales
    str     r2, [sp, #F_PIXELS]
    add     r7, r2, r3, lsl #3
    add     r8, r2, r4, lsl #3
    strd    r7, r8, [sp, #F_END_SEQUENCE]
    sub     r4, r4, r3
    entry_of r7, r3, .Lloop_sequence, .Lcheck_sequence
    entry_of r8, r4, .Lloop_hidden, .Lcheck_hidden
    strd    r7, r8, [sp, #F_ENTRY_SEQUENCE]
    add     r7, r6, #32
    strd    r6, r7, [sp, #F_SEQUENCE]
    add     r6, r6, #64
    str     r6, [sp, #F_NUMBERS]
    add     r5, r5, #1024                   @ the middle of the table
    mov     r6, #512
    add     r7, r6, #1 << 24
    mov     r8, #256
    orr     r6, r6, #3 << 16
    strd    r5, r6, [sp, #F_TABLE]
    strd    r7, r8, [sp, #F_SIGMOID_HALF]
    ldrd    r2, r3, [r0, #STEP_CELL]
    ldr     r4, [r0, #STEP_CELL + 8]
    strd    r2, r3, [sp, #F_CELL]
    str     r4, [sp, #F_UNITS]
.Lunit:
    ldrd    r0, lr, [sp, #F_PIXELS]
    products sequence, F_ENTRY_SEQUENCE
    ldr     lr, [sp, #F_SEQUENCE]
    requantize_gates
    stm     sp, {r2-r5}
    ldr     lr, [sp, #F_END]
    products hidden, F_ENTRY
    ldr     lr, [sp, #F_RECURRENT]
    requantize_gates
    ldm     sp, {r6-r12, lr}
    qadd16  r2, r2, r6
    qadd16  r3, r3, r7
    qadd16  r4, r4, r8
    qadd16  r5, r5, r9
    sigmoid r2
    sigmoid r3
    sigmoid r5
    smulbt  r4, r4, r11
    tangent_of_scaled r4
    @ The next cell state: times 2^-15 what it was by the second gate, plus first by third.
    mul     r2, r2, r4
    ldrd    r9, r0, [sp, #F_NUMBERS]
    ldrsh   r4, [r0]
    mul     r3, r3, r4
    sub     r3, r3, r3, asr #1
    round_shift r3, #14, #0
    ssat    r3, #16, r3
    ldm     r9!, {r4, r6, r7, r8}
    requantize_s16 r2, r4, r6
    add     r2, r2, r3
    cmp     r2, r7
    it      lt
    movlt   r2, r7
    cmp     r2, r8
    it      gt
    movgt   r2, r8
    strh    r2, [r0], #2
    str     r0, [sp, #F_CELL]
    @ The next hidden state.
    ldm     r9!, {r4, r6, r7}
    mla     r2, r2, r4, r6
    asr     r2, r2, r7
    tangent_of_scaled r2
    mul     r2, r2, r5
    ldm     r9, {r4, r6, r7}
    requantize r2, r4, r6, r7
    ldrd    r0, r4, [sp, #F_HIDDEN]
    strb    r2, [r0], #1
    subs    r4, r4, #1
    strd    r0, r4, [sp, #F_HIDDEN]
    bne.w   .Lunit
    add     sp, sp, #F_BYTES
    pop     {r4-r11, pc}
    .size   cg_lstm_step_s8_dsp, . - cg_lstm_step_s8_dsp
