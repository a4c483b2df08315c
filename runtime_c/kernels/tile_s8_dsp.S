@ tile_s8_dsp.S -- all output channels of one, two or four widened pixels, int8, DSP extension.
@
@ Assembly, because the inner loop of four pixels by two channels needs all fourteen registers:
@ eight sums, two words of pixels, two of weights, two addresses. 13 instructions for 16
@ multiply-accumulates (0.81 each); gcc 12 spills sums and takes 1.3. Two pixels: 14 for 16
@ (0.875), one pixel: 18 for 16 (1.125), with LDM; 22 (1.375) where it is widened on the way.
@ Multiply-accumulates aside, a pair of channels takes 59 instructions for four pixels, 36 for
@ two, 21 for one, and 2 or 3 a turn of the loop.
@
@ Contract, stream and layout of pixels: cg_conv_dsp.h, cg_conv_dsp_parts.h. No word or halfword
@ access but to the stream, the widened pixels, the description of the tile and the stack.
@
@ Requantising (`requantize` below) is exact for every sum where the shift is 1 to 31 to the right:
@ SMMLAR with 2m - 2^32 and the sum itself added in the upper word is (sum * m + 2^30) >> 31, the
@ doubling high multiply; adding the sign and ADC with the last bit shifted out is the division by
@ 2^shift that rounds halves away from zero.
    .syntax unified
    .thumb

    @ Offset in cg_tile_dsp; of its first five words the order counts.
    .set TILE_IS_ODD, 20

    @ Groups of four values in a turn of each inner loop. A loop is entered in the middle, so that
    @ any number of groups is exact. (cg_tile1_s8_dsp: pairs of groups, and takes 8 for granted.)
    .set UNROLL, 8

    .macro requantize sum, multiplier, shift, zero
    smmlar  \sum, \sum, \multiplier, \sum
    add     \sum, \sum, \sum, asr #31
    asrs    \sum, \sum, \shift
    adc     \sum, \sum, \zero
    ssat    \sum, #8, \sum
    .endm

    @ cg_requantize_s8_dsp(tile, sums, multiplier, low byte of shift and count in the next)
    .macro requantize_any tile, sums, multiplier, shift, count
    mov     r2, \multiplier
    uxtb    r3, \shift
    orr     r3, r3, #\count << 8
    ldr     r0, [sp, #\tile]
    add     r1, sp, #\sums
    bl      cg_requantize_s8_dsp
    .endm

    @ What a function takes of the stack in all, for the static bound: LDM from sp hides it.
    .macro frame symbol, bytes
    .global \symbol
    .set    \symbol, \bytes + 36
    .endm

    .macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type   \name, %function
    .thumb_func
\name:
    .endm

@ ---- four pixels --------------------------------------------------------------------------
@ r0 pixels, r1 stream, r2-r5 sums of the first channel, r6-r9 of the second, r10 r11 pixels,
@ r12 lr weights.

    @ Frame. The first four words are the addresses that the next results go to.
    .set F4_PIXELS, 16
    .set F4_PAIRS_END, 20
    .set F4_OUT_ZERO, 24
    .set F4_ENTRY, 28
    .set F4_PIXELS_END, 32
    .set F4_TILE, 36
    .set F4_SUMS, 40
    .set F4_BYTES, 76

    .macro two_values_of_four
    ldr     r12, [r1], #4
    ldrd    r10, r11, [r0], #8
    sxtb16  lr, r12, ror #8
    sxtb16  r12, r12
    smlad   r2, r10, r12, r2
    smlad   r6, r10, lr, r6
    smlad   r3, r11, r12, r3
    smlad   r7, r11, lr, r7
    ldrd    r10, r11, [r0], #8
    smlad   r4, r10, r12, r4
    smlad   r8, r10, lr, r8
    smlad   r5, r11, r12, r5
    smlad   r9, r11, lr, r9
    .endm

    frame cg_frame_cg_tile4_s8_dsp, F4_BYTES
    function cg_tile4_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F4_BYTES
    str     r0, [sp, #F4_TILE]
    add     r5, r1, r2
    add     r6, r5, r2
    add     r7, r6, r3
    stm     sp, {r1, r5, r6, r7}
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
    requantize r2, r10, r12, r0
    requantize r3, r10, r12, r0
    requantize r4, r10, r12, r0
    requantize r5, r10, r12, r0
    requantize r6, r11, lr, r0
    requantize r7, r11, lr, r0
    requantize r8, r11, lr, r0
    requantize r9, r11, lr, r0
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
    requantize r2, r10, r12, r0
    requantize r3, r10, r12, r0
    requantize r4, r10, r12, r0
    requantize r5, r10, r12, r0
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

@ ---- two pixels ---------------------------------------------------------------------------
@ r0 pixels, r1 stream, r2 r3 sums of the first channel, r4 r5 of the second, r6 r7 r12 weights,
@ r8-r11 pixels, lr end of the pixels.

    @ Frame. The first four words are loaded together.
    .set F2_PIXELS, 0
    .set F2_OUT_ZERO, 4
    .set F2_OUTPUTS, 8
    .set F2_PAIRS_END, 16
    .set F2_ENTRY, 20
    .set F2_TILE, 24
    .set F2_SUMS, 28
    .set F2_PIXELS_END, 44
    .set F2_BYTES, 52

    .macro four_values_of_two
    ldm.w   r1!, {r6, r7}
    ldm     r0!, {r8-r11}
    sxtb16  r12, r6
    sxtb16  r6, r6, ror #8
    smlad   r2, r8, r12, r2
    smlad   r3, r9, r12, r3
    sxtb16  r12, r7
    smlad   r4, r8, r6, r4
    smlad   r5, r9, r6, r5
    sxtb16  r7, r7, ror #8
    smlad   r2, r10, r12, r2
    smlad   r3, r11, r12, r3
    smlad   r4, r10, r7, r4
    smlad   r5, r11, r7, r5
    .endm

    frame cg_frame_cg_tile2_s8_dsp, F2_BYTES
    function cg_tile2_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #F2_BYTES
    str     r0, [sp, #F2_TILE]
    add     r2, r2, r1
    strd    r1, r2, [sp, #F2_OUTPUTS]
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    strd    r0, r7, [sp, #F2_PIXELS]
    add     lr, r0, r6, lsl #4
    str     lr, [sp, #F2_PIXELS_END]
    and     r6, r6, #UNROLL - 1
    adr.w   r9, .Lcheck2
    movs    r10, #(.Lcheck2 - .Lloop2) / UNROLL
    mls     r9, r6, r10, r9
    adds    r9, r9, #1
    strd    r5, r9, [sp, #F2_PAIRS_END]
    cmp     r1, r5
    beq.w   .Lodd2
.Lpair2:
    ldrd    r2, r4, [r1], #8
    mov     r3, r2
    mov     r5, r4
    ldr     pc, [sp, #F2_ENTRY]
.Lloop2:
    .rept   UNROLL
    four_values_of_two
    .endr
.Lcheck2:
    cmp     r0, lr
    bne.w   .Lloop2
    ldm     r1!, {r6, r7, r8}
    lsrs    r9, r8, #8
    bcs     .Lany2
    ldm     sp, {r0, r10, r11, r12}         @ pixels, out_zero, outputs
    requantize r2, r6, r8, r10
    requantize r3, r6, r8, r10
    requantize r4, r7, r9, r10
    requantize r5, r7, r9, r10
.Lstore2:
    strb    r2, [r11], #1
    strb    r4, [r11], #1
    strb    r3, [r12], #1
    strb    r5, [r12], #1
    strd    r11, r12, [sp, #F2_OUTPUTS]
    ldr     r12, [sp, #F2_PAIRS_END]
    cmp     r1, r12
    bne     .Lpair2
.Lodd2:
    ldr     r2, [sp, #F2_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    beq     .Ldone2
    ldr     r2, [r1], #4
    mov     r3, r2
.Lloop_odd2:
    ldr     r6, [r1], #4
    ldm     r0!, {r8-r11}
    sxtb16  r12, r6
    sxtb16  r6, r6, ror #8
    smlad   r2, r8, r12, r2
    smlad   r3, r9, r12, r3
    smlad   r2, r10, r6, r2
    smlad   r3, r11, r6, r3
    cmp     r0, lr
    bne     .Lloop_odd2
    ldm     r1!, {r6, r8}
    lsrs    r9, r8, #8
    bcs     .Lany_odd2
    add     r0, sp, #F2_OUT_ZERO
    ldm     r0, {r10, r11, r12}
    requantize r2, r6, r8, r10
    requantize r3, r6, r8, r10
.Lstore_odd2:
    strb    r2, [r11]
    strb    r3, [r12]
.Ldone2:
    add     sp, sp, #F2_BYTES
    pop     {r4-r11, pc}

.Lany2:
    add     r0, sp, #F2_SUMS
    stm     r0, {r2-r5}
    mov     r4, r1
    requantize_any F2_TILE, F2_SUMS, r6, r8, 2
    requantize_any F2_TILE, F2_SUMS + 8, r7, r9, 2
    mov     r1, r4
    add     r0, sp, #F2_SUMS
    ldm     r0, {r2-r5}
    ldr     lr, [sp, #F2_PIXELS_END]
    ldm     sp, {r0, r10, r11, r12}
    b       .Lstore2
.Lany_odd2:
    strd    r2, r3, [sp, #F2_SUMS]
    requantize_any F2_TILE, F2_SUMS, r6, r8, 2
    ldrd    r2, r3, [sp, #F2_SUMS]
    ldrd    r11, r12, [sp, #F2_OUTPUTS]
    b       .Lstore_odd2
    .size   cg_tile2_s8_dsp, . - cg_tile2_s8_dsp

@ ---- one pixel ----------------------------------------------------------------------------
@ r0 pixel, r1 stream, r2 r3 sums, r4-r7 r12 weights, r8-r11 pixel, lr end of the pixel.
@ Twice the same function: for a widened pixel, and for one that is read as it is.

    @ Frame. The first four words are loaded together.
    .set F1_PIXELS, 0
    .set F1_OUT_ZERO, 4
    .set F1_OUTPUT, 8
    .set F1_PAIRS_END, 12
    .set F1_ENTRY, 16
    .set F1_LOOP_ENTRY, 20
    .set F1_TILE, 24
    .set F1_SUMS, 28
    .set F1_PIXELS_END, 36
    .set F1_BYTES, 44

    @ Four values, or eight, to r8 and on: {k0, k2}, {k1, k3}.
    .macro load_four is_wide
    .if     \is_wide
    ldrd    r8, r9, [r0], #8
    .else
    ldr     r8, [r0], #4
    sxtb16  r9, r8, ror #8
    sxtb16  r8, r8
    .endif
    .endm

    .macro load_eight is_wide
    .if     \is_wide
    ldm     r0!, {r8-r11}
    .else
    ldrd    r8, r10, [r0], #8
    sxtb16  r9, r8, ror #8
    sxtb16  r11, r10, ror #8
    sxtb16  r8, r8
    sxtb16  r10, r10
    .endif
    .endm

    .macro two_values_of_one values, weights
    sxtb16  r12, \weights
    sxtb16  \weights, \weights, ror #8
    smlad   r2, \values, r12, r2
    smlad   r3, \values, \weights, r3
    .endm

    .macro one_pixel name, is_wide
    frame   cg_frame_\name, F1_BYTES
    function \name
    push    {r4-r11, lr}
    sub     sp, sp, #F1_BYTES
    str     r0, [sp, #F1_TILE]
    mov     r2, r1
    mov     r12, r0
    ldm     r12, {r0, r1, r5, r6, r7}       @ pixels, stream, pairs_end, groups, out_zero
    strd    r0, r7, [sp, #F1_PIXELS]
    strd    r2, r5, [sp, #F1_OUTPUT]
    add     lr, r0, r6, lsl #(2 + \is_wide)
    str     lr, [sp, #F1_PIXELS_END]
    ubfx    r8, r6, #1, #3                  @ pairs of groups in the first turn
    adr.w   r9, .Lcheck_\name
    movs    r10, #(.Lcheck_\name - .Lloop_\name) / UNROLL
    mls     r9, r8, r10, r9
    adds    r9, r9, #1
    mov     r8, r9
    lsls    r6, r6, #31                     @ an odd number of groups: one in front of the loop
    it      ne
    adrne.w r8, .Lgroup_\name
    it      ne
    addne   r8, r8, #1
    strd    r8, r9, [sp, #F1_ENTRY]
    cmp     r1, r5
    beq.w   .Lodd_\name
.Lpair_\name:
    ldrd    r2, r3, [r1], #8
    ldr     pc, [sp, #F1_ENTRY]
.Lgroup_\name:
    ldrd    r4, r5, [r1], #8
    load_four \is_wide
    two_values_of_one r8, r4
    two_values_of_one r9, r5
    ldr     pc, [sp, #F1_LOOP_ENTRY]
.Lloop_\name:
    .rept   UNROLL
    ldm.w   r1!, {r4-r7}
    load_eight \is_wide
    two_values_of_one r8, r4
    two_values_of_one r9, r5
    two_values_of_one r10, r6
    two_values_of_one r11, r7
    .endr
.Lcheck_\name:
    cmp     r0, lr
    bne.w   .Lloop_\name
    ldm     r1!, {r4, r5, r6}
    ldm     sp, {r0, r8, r9, r10}           @ pixels, out_zero, output, pairs_end
    lsrs    r7, r6, #8
    bcs     .Lany_\name
    requantize r2, r4, r6, r8
    requantize r3, r5, r7, r8
.Lstore_\name:
    strb    r2, [r9], #1
    strb    r3, [r9], #1
    str     r9, [sp, #F1_OUTPUT]
    cmp     r1, r10
    bne.w   .Lpair_\name
.Lodd_\name:
    ldr     r2, [sp, #F1_TILE]
    ldr     r2, [r2, #TILE_IS_ODD]
    cmp     r2, #0
    beq     .Ldone_\name
    ldr     r2, [r1], #4
.Lloop_odd_\name:
    ldr     r4, [r1], #4
    load_four \is_wide
    sxtb16  r12, r4
    sxtb16  r4, r4, ror #8
    smlad   r2, r8, r12, r2
    smlad   r2, r9, r4, r2
    cmp     r0, lr
    bne     .Lloop_odd_\name
    ldm     r1!, {r4, r6}
    ldrd    r8, r9, [sp, #F1_OUT_ZERO]      @ and F1_OUTPUT
    lsrs    r7, r6, #8
    bcs     .Lany_odd_\name
    requantize r2, r4, r6, r8
.Lstore_odd_\name:
    strb    r2, [r9]
.Ldone_\name:
    add     sp, sp, #F1_BYTES
    pop     {r4-r11, pc}

.Lany_\name:
    strd    r2, r3, [sp, #F1_SUMS]
    mov     r8, r0
    mov     r11, r1
    requantize_any F1_TILE, F1_SUMS, r4, r6, 1
    requantize_any F1_TILE, F1_SUMS + 4, r5, r7, 1
    mov     r0, r8
    mov     r1, r11
    ldrd    r2, r3, [sp, #F1_SUMS]
    ldr     lr, [sp, #F1_PIXELS_END]
    b       .Lstore_\name
.Lany_odd_\name:
    str     r2, [sp, #F1_SUMS]
    requantize_any F1_TILE, F1_SUMS, r4, r6, 1
    ldr     r2, [sp, #F1_SUMS]
    b       .Lstore_odd_\name
    .size   \name, . - \name
    .endm

    one_pixel cg_tile1_s8_dsp, 1
    one_pixel cg_tile1_narrow_s8_dsp, 0
