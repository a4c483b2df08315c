@ SPDX-License-Identifier: Apache-2.0
@ winograd_parts_s8_dsp.S -- F(2x2, 3x3) on int8 images, DSP extension: pixels of a block transformed,
@ products summed, results transformed back and requantized.
@
@ A result needs 16 products where the direct kernel has 36. Layouts and contracts:
@ cg_winograd_parts_dsp.h.
#include "cg_winograd_dsp.inc"

    @ ---- pixels -------------------------------------------------------------------------

    @ Columns of a block; bytes of one of them in the frame: its place in a row, then rows 1 2 3 0 of
    @ the transformed pairs {c0, c2}, then those of {c1, c3}.
    .set COLUMNS, 6
    .set COLUMN_BYTES, 36
    .set P_COLUMNS, 0
    .set P_END, COLUMNS * COLUMN_BYTES
    .set P_FIRST, P_END             @ of the columns inside the image
    .set P_STOP, P_END + 4          @ behind the last one
    .set P_ROWS, P_END + 8          @ four addresses
    .set P_TO, P_END + 24           @ four addresses
    .set P_LEFT, P_END + 40         @ groups of four channels to do
    .set P_BYTES, P_END + 44

    @ Where first, count, step, groups and padding begin in cg_winograd_block.
    .set BLOCK_FIRST, 24

    @ Pairs of one row of the transformed columns, transformed along the row: those of both tiles for
    @ each of the four columns of products, r1 r10 r11 r12. Changes r2-r9.
    .macro along_row row, odd
    .set FROM, P_COLUMNS + 4 + 16 * \odd + 4 * \row
    .set TO, 32 * \odd + 8 * \row
    ldr     r2, [sp, #FROM]
    ldr     r3, [sp, #FROM + COLUMN_BYTES]
    ldr     r4, [sp, #FROM + 2 * COLUMN_BYTES]
    ldr     r5, [sp, #FROM + 3 * COLUMN_BYTES]
    ldr     r6, [sp, #FROM + 4 * COLUMN_BYTES]
    ldr     r7, [sp, #FROM + 5 * COLUMN_BYTES]
    sadd16  r8, r3, r4
    sadd16  r9, r5, r6
    strd    r8, r9, [r1, #TO]
    ssub16  r8, r4, r3
    ssub16  r9, r6, r5
    strd    r8, r9, [r10, #TO]
    ssub16  r2, r2, r4
    ssub16  r4, r4, r6
    strd    r2, r4, [r11, #TO]
    ssub16  r3, r3, r5
    ssub16  r5, r5, r7
    strd    r3, r5, [r12, #TO]
    .endm

/* void cg_winograd_pixels_s8_dsp(const cg_winograd_block *block, int32_t *pixels) */
    frame   cg_frame_cg_winograd_pixels_s8_dsp, P_BYTES
    function cg_winograd_pixels_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #P_BYTES
    ldm     r0, {r2-r5}
    adds    r0, r0, #BLOCK_FIRST
    ldm     r0, {r6-r10}                @ first, count, step, groups, padding
    add     r11, sp, #P_ROWS
    stm     r11, {r2-r5}
    str     r9, [sp, #P_LEFT]
    add     r2, r1, r9, lsl #6          @ 2 pairs of 4 rows of 2 tiles a group
    add     r3, r2, r9, lsl #6
    add     r4, r3, r9, lsl #6
    add     r11, sp, #P_TO
    stm     r11, {r1-r4}
    @ Columns in the padding: in front, then behind. Rows 1 2 3 0 of a constant c: 2c, 0, 0, 0.
    mov     r11, sp
    movs    r12, #0
    movs    r3, #0                      @ place in the row
    cbz     r6, 2f
    .irp    at, 4, 20
    str     r10, [r11, #\at]
    str     r12, [r11, #\at + 4]
    str     r12, [r11, #\at + 8]
    str     r12, [r11, #\at + 12]
    .endr
    adds    r11, r11, #COLUMN_BYTES
2:  str     r11, [sp, #P_FIRST]
    cbz     r7, 3f
1:  str     r3, [r11], #COLUMN_BYTES
    add     r3, r3, r8
    subs    r7, r7, #1
    bne     1b
3:  str     r11, [sp, #P_STOP]
    add     r2, sp, #P_END
4:  cmp     r11, r2
    beq     .Lgroup
    .irp    at, 4, 20
    str     r10, [r11, #\at]
    str     r12, [r11, #\at + 4]
    str     r12, [r11, #\at + 8]
    str     r12, [r11, #\at + 12]
    .endr
    adds    r11, r11, #COLUMN_BYTES
    b       4b
.Lgroup:
    add     r12, sp, #P_ROWS
    ldm     r12, {r0-r3}
    adds    r4, r0, #4
    adds    r5, r1, #4
    adds    r6, r2, #4
    adds    r7, r3, #4
    stm     r12, {r4-r7}
    ldrd    r12, r11, [sp, #P_FIRST]
    cmp     r12, r11
    beq     .Lrow
.Lcolumn_of_pixels:
    ldr     lr, [r12], #4
    ldr     r4, [r0, lr]
    ldr     r5, [r1, lr]
    ldr     r6, [r2, lr]
    ldr     r7, [r3, lr]
    sxtb16  r8, r4
    sxtb16  r9, r5
    sxtb16  r10, r6
    sxtb16  r11, r7
    ssub16  lr, r8, r10
    sadd16  r8, r9, r10
    ssub16  r11, r9, r11
    ssub16  r9, r10, r9
    stm     r12!, {r8, r9, r11, lr}
    sxtb16  r4, r4, ror #8
    sxtb16  r5, r5, ror #8
    sxtb16  r6, r6, ror #8
    sxtb16  r7, r7, ror #8
    ssub16  r10, r4, r6
    sadd16  r4, r5, r6
    ssub16  r7, r5, r7
    ssub16  r5, r6, r5
    stm     r12!, {r4, r5, r7, r10}
    ldr     r6, [sp, #P_STOP]
    cmp     r12, r6
    bne     .Lcolumn_of_pixels
.Lrow:
    add     r2, sp, #P_TO
    ldm     r2, {r1, r10, r11, r12}
    .irp    odd, 0, 1
    .irp    row, 0, 1, 2, 3
    along_row \row, \odd
    .endr
    .endr
    adds    r1, r1, #64
    adds    r10, r10, #64
    adds    r11, r11, #64
    adds    r12, r12, #64
    add     r2, sp, #P_TO
    stm     r2, {r1, r10, r11, r12}
    ldr     r3, [sp, #P_LEFT]
    subs    r3, r3, #1
    str     r3, [sp, #P_LEFT]
    bne.w   .Lgroup
    add     sp, sp, #P_BYTES
    pop     {r4-r11, pc}
    .size cg_winograd_pixels_s8_dsp, . - cg_winograd_pixels_s8_dsp

    @ ---- products and results -----------------------------------------------------------

    .set PIXEL_STEP, 32

    @ Frame: sums of a row of products; of each of four columns the sums of result rows 1 and 0; the
    @ four channels of eight results.
    .set T_SUMS, 0
    .set T_COLUMNS, 32
    .set T_RESULTS, 288
    .set T_RETURN, 320              @ where a pass goes on
    .set T_END, 324                 @ of a column of pixels
    .set T_LENGTH, 328              @ its bytes, and
    .set T_BACK, 332                @ those back to its next row
    .set T_ENTRY, 336               @ into the unrolled loop, for the turns behind the first
    .set T_COLUMN, 340              @ the next one in the frame
    .set T_CHANNEL, 344             @ of the result, the first of four
    .set T_TO, 348                  @ the next channel of the results in the frame
    .set T_ZERO, 352
    .set T_JOB, 356
    .set T_BYTES, 364               @ with a word for alignment

    @ The first pair of channels, added to biases from the stream.
    .macro first_start
    ldrd    r2, r4, [r1], #8
    ldrd    r6, r8, [r1], #8
    ldrd    r10, r11, [r0], #32
    ldrd    r12, lr, [r1], #8
    smlad   r3, r11, r12, r2
    smlad   r2, r10, r12, r2
    smlad   r5, r11, lr, r4
    smlad   r4, r10, lr, r4
    ldrd    r12, lr, [r1], #8
    smlad   r7, r11, r12, r6
    smlad   r6, r10, r12, r6
    smlad   r9, r11, lr, r8
    smlad   r8, r10, lr, r8
    .endm

/* void cg_winograd_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel) */
    frame   cg_frame_cg_winograd_tiles_s8_dsp, T_BYTES
    function cg_winograd_tiles_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #T_BYTES
    str     r0, [sp, #T_JOB]
    str     r1, [sp, #T_CHANNEL]
    begin_loop
    ldr     r5, [r0, #JOB_OUT_ZERO]
    str     r5, [sp, #T_ZERO]
    ldr     r1, [r0, #JOB_STREAM]
.Lchannels:
    ldr     r0, [sp, #T_JOB]
    add     r12, sp, #T_COLUMNS
    str     r12, [sp, #T_COLUMN]
    ldr     r0, [r0, #JOB_PIXELS]
    pass    first_start, 1
    b       .Lsecond_row
.Lcolumn:
    sub     r0, r0, #24
    pass    first_zero, 1
.Lsecond_row:
    stm     sp, {r2-r9}
    pass    first_zero
    ldm     sp, {r10, r11, r12, lr}
    both    r10, r2
    both    r11, r3
    both    r12, r4
    both    lr, r5
    stm     sp, {r10, r11, r12, lr}
    ldrd    r10, r11, [sp, #16]
    ldrd    r12, lr, [sp, #24]
    both    r10, r6
    both    r11, r7
    both    r12, r8
    both    lr, r9
    strd    r10, r11, [sp, #16]
    strd    r12, lr, [sp, #24]
    pass    turn                            @ result row 1: products 1 - 2 - 3
    keep_column
    ldm     sp, {r2-r9}
    pass    turn                            @ result row 0: products 1 + 2 + 0
    keep_column
    add     lr, sp, #T_RESULTS
    cmp     r12, lr
    bne.w   .Lcolumn
    add     r0, sp, #T_COLUMNS
    str     lr, [sp, #T_TO]
    @ Columns of products 1 2 0 3, of each result row 1 and row 0 of two tiles: result columns are
    @ 0 + (1 + 2) / 2 and (1 - 2) / 2 - 3, both doubled.
.Lresults:
    ldrd    r2, r3, [r0]
    ldrd    r4, r5, [r0, #32]
    ldrd    r6, r7, [r0, #64]
    ldrd    r8, r9, [r0, #96]
    add     r2, r2, r6
    sub     r6, r2, r6, lsl #1
    add     r3, r3, r7
    sub     r7, r3, r7, lsl #1
    add     r4, r4, r8
    sub     r8, r4, r8, lsl #1
    add     r5, r5, r9
    sub     r9, r5, r9, lsl #1
    ldrd    r10, r11, [r0, #128]
    ldrd    r12, lr, [r0, #160]
    add     r2, r10, r2, asr #1
    add     r3, r11, r3, asr #1
    add     r4, r12, r4, asr #1
    add     r5, lr, r5, asr #1
    ldrd    r10, r11, [r0, #192]
    ldrd    r12, lr, [r0, #224]
    rsb     r6, r10, r6, asr #1
    rsb     r7, r11, r7, asr #1
    rsb     r8, r12, r8, asr #1
    rsb     r9, lr, r9, asr #1
    ldrd    r10, r12, [r1], #8              @ multiplier, shift
    further_shifts lr, r12
    bcs     .Lany
    ldr     r11, [sp, #T_ZERO]
    requantize_channel_doubled r11, r10, r12, r2, r3, r4, r5, r6, r7, r8, r9
.Lresults_stored:
    ldr     lr, [sp, #T_TO]
    strb    r4, [lr, #0]
    strb    r8, [lr, #4]
    strb    r5, [lr, #8]
    strb    r9, [lr, #12]
    strb    r2, [lr, #16]
    strb    r6, [lr, #20]
    strb    r3, [lr, #24]
    strb    r7, [lr, #28]
    adds    lr, lr, #1
    str     lr, [sp, #T_TO]
    adds    r0, r0, #8
    add     r12, sp, #T_COLUMNS + 32
    cmp     r0, r12
    bne.w   .Lresults
    @ Eight pixels of four channels each.
    ldr     r12, [sp, #T_JOB]
    ldr     lr, [sp, #T_CHANNEL]
    add     r0, sp, #T_RESULTS
    adds    r11, lr, #4
    str     r11, [sp, #T_CHANNEL]
    ldr     r2, [r12, #JOB_IS_PART]
    cbnz    r2, .Lpart
    ldm     r0, {r2-r9}
    ldrd    r10, r11, [r12, #JOB_OUTPUTS]
    ldr     r0, [r12, #JOB_STEP]
    add     r10, r10, lr
    add     r11, r11, lr
    str     r2, [r10]
    str     r3, [r10, r0]
    add     r2, r10, r0, lsl #1
    str     r4, [r2]
    str     r5, [r2, r0]
    str     r6, [r11]
    str     r7, [r11, r0]
    add     r2, r11, r0, lsl #1
    str     r8, [r2]
    str     r9, [r2, r0]
.Lstored:
    ldr     r12, [r12, #JOB_STREAM_END]
    cmp     r1, r12
    bne.w   .Lchannels
    add     sp, sp, #T_BYTES
    pop     {r4-r11, pc}
.Lpart:
    mov     r4, r1
    mov     r1, r0
    mov     r0, r12
    mov     r2, lr
    bl      cg_winograd_store_s8_dsp        @ job, results, channel
    mov     r1, r4
    ldr     r12, [sp, #T_JOB]
    b       .Lstored

.Lany:
    .irp    sum, r2, r3, r4, r5, r6, r7, r8, r9
    asrs    \sum, \sum, #1
    .endr
    lsl     r10, r10, #1
    mov     r11, sp                         @ T_SUMS
    requantize_eight_any r11, r10, r12, "r2-r9"
    b       .Lresults_stored

    loop
    .size cg_winograd_tiles_s8_dsp, . - cg_winograd_tiles_s8_dsp
