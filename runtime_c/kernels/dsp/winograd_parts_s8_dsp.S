@ SPDX-License-Identifier: Apache-2.0
@ winograd_parts_s8_dsp.S -- F(2x2, 3x3) on int8 images, DSP extension: pixels of a block transformed,
@ products summed, results transformed back and requantized.
@
@ Assembly, because the loop over channels needs all fourteen registers: eight sums, two words of
@ pixels, two of weights, two addresses. 11 instructions for 16 products, of which a result needs 16
@ where the direct kernel has 36. Layouts and contracts: cg_winograd_parts_dsp.h.
#include "cg_requantize_dsp.inc"

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

    @ Offsets in cg_winograd_block.
    .set BLOCK_FIRST, 16
    .set BLOCK_COUNT, 20
    .set BLOCK_STEP, 24
    .set BLOCK_GROUPS, 28
    .set BLOCK_PADDING, 32

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
    ldm     r0, {r2-r9, r10}            @ rows, first, count, step, groups, padding
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

    @ Turns of the loop over pairs of channels that are unrolled; bytes of one. Not more: with an
    @ instruction cache of 1 KiB, as parts with a flash cache have, a longer loop is no faster.
    .set UNROLL, 8
    .set TURN_BYTES, 44

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
    .set T_OUT, 344
    .set T_TO, 348                  @ the next channel of the results in the frame
    .set T_ZERO, 352
    .set T_JOB, 356
    .set T_BYTES, 364               @ with a word for alignment

    @ Offsets in cg_winograd_job.
    .set JOB_PIXELS, 0
    .set JOB_STREAM, 4
    .set JOB_STREAM_END, 8
    .set JOB_LENGTH, 12
    .set JOB_STEP, 16
    .set JOB_ROW_STEP, 20
    .set JOB_IS_PART, 24
    .set JOB_TILE, 28               @ a cg_tile_dsp
    .set JOB_OUT_ZERO, JOB_TILE + 16
    .set JOB_ACT_MIN, JOB_TILE + 24

    @ A pair of channels of two tiles by the weights of four results' channels.
    .macro turn
    ldrd    r10, r11, [r0], #32
    ldrd    r12, lr, [r1], #8
    smlad   r2, r10, r12, r2
    smlad   r3, r11, r12, r3
    smlad   r4, r10, lr, r4
    smlad   r5, r11, lr, r5
    ldrd    r12, lr, [r1], #8
    smlad   r6, r10, r12, r6
    smlad   r7, r11, r12, r7
    smlad   r8, r10, lr, r8
    smlad   r9, r11, lr, r9
    .endm

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

    @ The first pair of channels by itself.
    .macro first_zero
    ldrd    r10, r11, [r0], #32
    ldrd    r12, lr, [r1], #8
    smuad   r2, r10, r12
    smuad   r3, r11, r12
    smuad   r4, r10, lr
    smuad   r5, r11, lr
    ldrd    r12, lr, [r1], #8
    smuad   r6, r10, r12
    smuad   r7, r11, r12
    smuad   r8, r10, lr
    smuad   r9, r11, lr
    .endm

    @ All pairs of channels of a row of products. The loop behind the first pair stands once: it goes
    @ on behind this. Rows of pixels lie 8 bytes apart and end, one like the other, less than 32 bytes
    @ behind the end of their column.
    .macro pass first, is_first_row=0
    adr.w   r12, 9f + 1
    str     r12, [sp, #T_RETURN]
    .if     \is_first_row
    ldr     lr, [sp, #T_LENGTH]
    add     lr, r0, lr
    str     lr, [sp, #T_END]
    .else
    ldr     lr, [sp, #T_BACK]
    sub     r0, r0, lr
    .endif
    \first
    ldr     pc, [sp, #T_ENTRY]
    .balign 4
9:
    .endm

    @ The sums of a column for one row of results.
    .macro keep_column
    ldr     r12, [sp, #T_COLUMN]
    stm     r12!, {r2-r9}
    str     r12, [sp, #T_COLUMN]
    .endm

    @ sum and difference of a stored sum and one in a register, which is doubled away.
    .macro both stored, sum
    add     \stored, \stored, \sum
    sub     \sum, \stored, \sum, lsl #1
    .endm

/* void cg_winograd_tiles_s8_dsp(const cg_winograd_job *job, int8_t *output) */
    frame   cg_frame_cg_winograd_tiles_s8_dsp, T_BYTES
    function cg_winograd_tiles_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #T_BYTES
    str     r0, [sp, #T_JOB]
    str     r1, [sp, #T_OUT]
    ldr     r3, [r0, #JOB_LENGTH]
    sub     r4, r3, #8
    strd    r3, r4, [sp, #T_LENGTH]
    lsrs    r3, r3, #5                      @ pairs of channels
    subs    r3, r3, #1                      @ the first one stands in front of the loop
    and     r3, r3, #UNROLL - 1
    adr.w   r4, .Lcheck
    movs    r5, #TURN_BYTES
    mls     r4, r3, r5, r4
    adds    r4, r4, #1                      @ Thumb
    str     r4, [sp, #T_ENTRY]
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
    ldr     lr, [sp, #T_OUT]
    add     r0, sp, #T_RESULTS
    adds    r11, lr, #4
    str     r11, [sp, #T_OUT]
    ldr     r2, [r12, #JOB_IS_PART]
    cbnz    r2, .Lpart
    ldm     r0, {r2-r9}
    ldrd    r10, r11, [r12, #JOB_STEP]
    str     r2, [lr]
    str     r3, [lr, r10]
    add     r2, lr, r10, lsl #1
    str     r4, [r2]
    str     r5, [r2, r10]
    add     lr, lr, r11
    str     r6, [lr]
    str     r7, [lr, r10]
    add     r2, lr, r10, lsl #1
    str     r8, [r2]
    str     r9, [r2, r10]
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
    bl      cg_winograd_store_s8_dsp        @ job, results, output
    mov     r1, r4
    ldr     r12, [sp, #T_JOB]
    b       .Lstored

.Lany:
    .irp    sum, r2, r3, r4, r5, r6, r7, r8, r9
    asrs    \sum, \sum, #1
    .endr
    stm     sp, {r2-r9}
    mov     r4, r0
    mov     r5, r1
    ldr     r0, [sp, #T_JOB]
    adds    r0, r0, #JOB_TILE
    mov     r1, sp
    lsls    r2, r10, #1
    uxtb    r3, r12
    orr     r3, r3, #8 << 8
    bl      cg_requantize_s8_dsp
    mov     r0, r4
    mov     r1, r5
    ldm     sp, {r2-r9}
    b       .Lresults_stored

    .balign 4
.Lturns:
    .rept   UNROLL
    turn
    .endr
.Lcheck:
    ldr     r12, [sp, #T_END]
    cmp     r0, r12
    blo.w   .Lturns
    ldr     pc, [sp, #T_RETURN]
    .if     .Lcheck - .Lturns - UNROLL * TURN_BYTES
    .error  "a turn has another length"
    .endif
    .size cg_winograd_tiles_s8_dsp, . - cg_winograd_tiles_s8_dsp
