@ SPDX-License-Identifier: Apache-2.0
@ winograd4_parts_s8_dsp.S -- F(4x4, 3x3) on int8 images, DSP extension: pixels of a block transformed,
@ products summed, results transformed back and requantized.
@
@ 36 products for 16 results: 2.25 each where F(2x2) has 4 and the direct kernel 9. All sums wrap:
@ they are 9 * 2^k times what they are to be, so a product with 1/9 modulo 2^32 makes them 2^k times
@ it, exactly. Layouts and contracts: cg_winograd_parts_dsp.h.
    .set PIXEL_STEP, 48
    .set INTERLEAVED, 0
#include "cg_needs_dsp.h"
#include "cg_winograd_dsp.inc"

    @ ---- pixels -------------------------------------------------------------------------

    @ Columns of a block; bytes of one of them in the frame: its place in a row, then rows 1 2 3 4 5 0
    @ of a transformed pair.
    .set COLUMNS, 10
    .set COLUMN_BYTES, 28
    .set P_COLUMNS, 0
    .set P_END, COLUMNS * COLUMN_BYTES
    .set P_FIRST, P_END             @ of the columns inside the image
    .set P_STOP, P_END + 4          @ behind the last one
    .set P_ROWS, P_END + 8          @ six addresses
    .set P_TO, P_END + 32
    .set P_STEP, P_END + 36         @ from column to column of transformed pixels
    .set P_LEFT, P_END + 40         @ groups of four channels to do
    .set P_BYTES, P_END + 44

    @ Offsets of first, count, step, groups and padding in cg_winograd_block.
    .set BLOCK_FIRST, 24

    @ One line of six pairs r4-r9 transformed: to r4, r6-r9 and r12 in the order 1 2 3 4 5 0, with
    @ B' = {0 4 4 -1 -1 0} {0 -4 4 1 -1 0} {0 -2 -1 2 1 0} {0 2 -1 -2 1 0} {0 4 0 -5 0 1}
    @ {4 0 -5 0 1 0}. Changes r5, r10, r11.
    .macro six
    ssub16  r10, r8, r6
    ssub16  r11, r7, r5
    ssub16  r12, r4, r6
    sadd16  r12, r12, r12
    sadd16  r12, r12, r12
    sadd16  r12, r12, r10
    ssub16  r9, r9, r7
    sadd16  r11, r11, r11
    sadd16  r4, r11, r11
    ssub16  r9, r9, r4
    sadd16  r6, r6, r6
    sadd16  r6, r6, r6
    sadd16  r5, r5, r5
    sadd16  r5, r5, r5
    ssub16  r6, r6, r8
    ssub16  r5, r5, r7
    sadd16  r7, r10, r11
    ssub16  r8, r10, r11
    sadd16  r4, r6, r5
    ssub16  r6, r6, r5
    .endm

    @ A column of padding at r11: rows 1 2 3 4 5 0 of a constant c are 6c and zeros. Takes 6c in r10, 0 in
    @ r12.
    .macro padding_column
    str     r10, [r11, #4]
    str     r12, [r11, #8]
    str     r12, [r11, #12]
    str     r12, [r11, #16]
    str     r12, [r11, #20]
    str     r12, [r11, #24]
    .endm

    @ All columns inside the image, the pairs of bytes 0 and 2 or 1 and 3 of each word, downwards.
    @ Changes all registers.
    .macro down odd
    ldrd    r0, lr, [sp, #P_FIRST]
    cmp     r0, lr
    beq     2f
1:  ldr     r1, [r0], #4
    ldrd    r2, r3, [sp, #P_ROWS]
    ldr     r4, [r2, r1]
    ldr     r5, [r3, r1]
    ldrd    r2, r3, [sp, #P_ROWS + 8]
    ldr     r6, [r2, r1]
    ldr     r7, [r3, r1]
    ldrd    r2, r3, [sp, #P_ROWS + 16]
    ldr     r8, [r2, r1]
    ldr     r9, [r3, r1]
    .irp    word, r4, r5, r6, r7, r8, r9
    .if     \odd
    sxtb16  \word, \word, ror #8
    .else
    sxtb16  \word, \word
    .endif
    .endr
    six
    stm     r0!, {r4, r6-r9, r12}
    cmp     r0, lr
    bne     1b
2:
    .endm

    @ Six columns from \first on, transformed along a row: to the six columns of products. r0 is the
    @ row's first word, r1 where its first column goes, r2 bytes to the next one, r3 three times them.
    .macro along first, at
    ldr     r4, [r0, #(\first * COLUMN_BYTES)]
    ldr     r5, [r0, #((\first + 1) * COLUMN_BYTES)]
    ldr     r6, [r0, #((\first + 2) * COLUMN_BYTES)]
    ldr     r7, [r0, #((\first + 3) * COLUMN_BYTES)]
    ldr     r8, [r0, #((\first + 4) * COLUMN_BYTES)]
    ldr     r9, [r0, #((\first + 5) * COLUMN_BYTES)]
    six
    str     r6, [r1, r2]
    str     r7, [r1, r2, lsl #1]
    str     r8, [r1, r3]
    str     r9, [lr, r3]
    str     r12, [lr, r2, lsl #2]
    .endm

    @ All rows of a pair of channels. Changes all registers.
    .macro across
    ldrd    r1, r2, [sp, #P_TO]
    add     r3, r2, r2, lsl #1
    add     r0, sp, #P_COLUMNS + 4
3:  add     lr, r1, r2
    along   0
    str     r4, [r1], #4
    adds    lr, lr, #4
    along   4
    str     r4, [r1], #4
    adds    r0, r0, #4
    add     r12, sp, #P_COLUMNS + 28
    cmp     r0, r12
    bne     3b
    str     r1, [sp, #P_TO]
    .endm

/* void cg_winograd4_pixels_s8_dsp(const cg_winograd_block *block, int32_t *pixels) */
    frame   cg_frame_cg_winograd4_pixels_s8_dsp, P_BYTES
    function cg_winograd4_pixels_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #P_BYTES
    ldm     r0!, {r2-r7}
    add     r12, sp, #P_ROWS
    stm     r12, {r2-r7}
    ldm     r0, {r6-r10}                @ first, count, step, groups, padding
    str     r9, [sp, #P_LEFT]
    movs    r2, #96                     @ 2 pairs of 6 rows of 2 tiles a group
    mul     r2, r2, r9
    strd    r1, r2, [sp, #P_TO]
    @ Columns in the padding: in front, then behind.
    mov     r11, sp
    movs    r12, #0
    movs    r3, #0                      @ place in the row
    cbz     r6, 2f
    padding_column
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
    padding_column
    adds    r11, r11, #COLUMN_BYTES
    b       4b
.Lgroup:
    down    0
    across
    down    1
    across
    add     r12, sp, #P_ROWS
    ldm     r12, {r2-r7}
    adds    r2, r2, #4
    adds    r3, r3, #4
    adds    r4, r4, #4
    adds    r5, r5, #4
    adds    r6, r6, #4
    adds    r7, r7, #4
    stm     r12, {r2-r7}
    ldr     r3, [sp, #P_LEFT]
    subs    r3, r3, #1
    str     r3, [sp, #P_LEFT]
    bne.w   .Lgroup
    add     sp, sp, #P_BYTES
    pop     {r4-r11, pc}
    .size cg_winograd4_pixels_s8_dsp, . - cg_winograd4_pixels_s8_dsp

    @ ---- products and results -----------------------------------------------------------

    @ Frame: sums that wait for others. In cg_winograd_job: of each of six columns the sums of four
    @ result rows, then the four channels of 32 results.
    .set T_FIRST, 0                 @ products 1, then 1 + 2
    .set T_OTHER, 32                @ 1 - 2, and what is requantized the long way
    .set T_THIRD, 64                @ 3, then what row 0 begins with
    .set T_MIDDLE, 96               @ rows 1 and 2
    .set T_RETURN, 160              @ where a pass goes on
    .set T_END, 164                 @ of a column of pixels
    .set T_LENGTH, 168              @ its bytes, and
    .set T_BACK, 172                @ those back to its next row
    .set T_KEPT, 176                @ r0 and r1
    .set T_FACTORS, 184             @ of rows of results: the next one is here
    .set T_FACTOR, 188              @ that of the row at hand
    .set T_ENTRY, 192               @ into the unrolled loop, for the turns behind the first
    .set T_COLUMN, 196              @ the next one in the sums
    .set T_RESULTS, 200             @ behind the last one
    .set T_CHANNEL, 204             @ of the result, the first of four
    .set T_TO, 208                  @ the next channel of the results
    .set T_ROW_END, 212             @ of the sums of a row
    .set T_ZERO, 216
    .set T_JOB, 220
    .set T_BYTES, 228               @ with a word for alignment

    @ Bytes of the sums of a column.
    .set SUMS_COLUMN, 128

    @ 1 and 2 of a pair of sums, of which 2 is in registers: 1 + 2 to T_FIRST, 1 - 2 to T_OTHER.
    .macro first_two a, b, at
    ldrd    r10, r11, [sp, #(T_FIRST + \at)]
    both    r10, \a
    both    r11, \b
    strd    r10, r11, [sp, #(T_FIRST + \at)]
    strd    \a, \b, [sp, #(T_OTHER + \at)]
    .endm

    @ 4 of a pair of sums is in registers. Rows 1 and 2 are done: 2 * (1 - 2) + (3 - 4), (1 + 2) + (3 + 4).
    @ Row 0 begins with 4 * (1 + 2) + (3 + 4), to T_THIRD, row 3 with (1 - 2) + 2 * (3 - 4), in registers.
    @ Changes r0, r1, r10, r11, r12, lr.
    .macro inner a, b, at
    ldrd    r10, r11, [sp, #(T_THIRD + \at)]
    both    r10, \a
    both    r11, \b
    ldrd    r12, lr, [sp, #(T_FIRST + \at)]
    add     r0, r12, r10
    add     r1, lr, r11
    strd    r0, r1, [sp, #(T_MIDDLE + 32 + \at)]
    add     r10, r10, r12, lsl #2
    add     r11, r11, lr, lsl #2
    strd    r10, r11, [sp, #(T_THIRD + \at)]
    ldrd    r12, lr, [sp, #(T_OTHER + \at)]
    add     r10, \a, r12, lsl #1
    add     r11, \b, lr, lsl #1
    strd    r10, r11, [sp, #(T_MIDDLE + \at)]
    add     \a, r12, \a, lsl #1
    add     \b, lr, \b, lsl #1
    .endm

/* void cg_winograd4_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel) */
    frame   cg_frame_cg_winograd4_tiles_s8_dsp, T_BYTES
    function cg_winograd4_tiles_s8_dsp
    push    {r4-r11, lr}
    sub     sp, sp, #T_BYTES
    str     r0, [sp, #T_JOB]
    str     r1, [sp, #T_CHANNEL]
    begin_loop
    ldr     r5, [r0, #JOB_OUT_ZERO]
    str     r5, [sp, #T_ZERO]
    ldr     r5, [r0, #JOB_SUMS]
    add     r5, r5, #6 * SUMS_COLUMN
    str     r5, [sp, #T_RESULTS]
    ldr     r1, [r0, #JOB_STREAM]
.Lchannels:
    ldr     r0, [sp, #T_JOB]
    ldr     r12, [r0, #JOB_SUMS]
    str     r12, [sp, #T_COLUMN]
    ldr     r0, [r0, #JOB_PIXELS]
.Lcolumn:
    pass    first_zero, 1
    stm     sp, {r2-r9}
    pass    first_zero
    first_two r2, r3, 0
    first_two r4, r5, 8
    first_two r6, r7, 16
    first_two r8, r9, 24
    pass    first_zero
    add     r12, sp, #T_THIRD
    stm     r12, {r2-r9}
    pass    first_zero
    strd    r0, r1, [sp, #T_KEPT]
    inner   r2, r3, 0
    inner   r4, r5, 8
    inner   r6, r7, 16
    inner   r8, r9, 24
    ldrd    r0, r1, [sp, #T_KEPT]
    pass    turn                            @ row 3: products 5 too
    ldr     r12, [sp, #T_COLUMN]
    add     lr, r12, #96
    stm     lr, {r2-r9}
    add     r12, r12, #32
    add     lr, sp, #T_MIDDLE
    ldm     lr!, {r2-r9}
    stm     r12!, {r2-r9}
    ldm     lr, {r2-r9}
    stm     r12, {r2-r9}
    add     lr, sp, #T_THIRD
    ldm     lr, {r2-r9}
    pass    turn                            @ row 0: products 0 too
    ldr     r12, [sp, #T_COLUMN]
    stm     r12, {r2-r9}
    add     r12, r12, #SUMS_COLUMN
    str     r12, [sp, #T_COLUMN]
    sub     r0, r0, #40
    ldr     lr, [sp, #T_RESULTS]
    cmp     r12, lr
    bne.w   .Lcolumn
    @ Columns of products 1 2 3 4 5 0, of each four rows of results. A result column is 8, 4, 2 or 2
    @ times three times what it is to be; so is a row.
    str     lr, [sp, #T_TO]
    sub     r0, lr, #6 * SUMS_COLUMN
    adr     r2, .Lfactors
    str     r2, [sp, #T_FACTORS]
.Lresult_row:
    ldr     r2, [sp, #T_FACTORS]
    ldr     r3, [r2], #4
    strd    r2, r3, [sp, #T_FACTORS]        @ and T_FACTOR
    add     r2, r0, #32
    str     r2, [sp, #T_ROW_END]
.Lresults:
    ldrd    r2, r3, [r0]
    ldrd    r4, r5, [r0, #SUMS_COLUMN]
    both    r2, r4
    both    r3, r5
    ldrd    r6, r7, [r0, #2 * SUMS_COLUMN]
    ldrd    r8, r9, [r0, #3 * SUMS_COLUMN]
    both    r6, r8
    both    r7, r9
    ldrd    r10, r11, [r0, #5 * SUMS_COLUMN]
    ldrd    r12, lr, [r0, #4 * SUMS_COLUMN]
    add     r10, r10, r6
    add     r10, r10, r2, lsl #2
    add     r11, r11, r7
    add     r11, r11, r3, lsl #2
    add     r12, r12, r4
    add     r12, r12, r8, lsl #1
    add     lr, lr, r5
    add     lr, lr, r9, lsl #1
    add     r4, r8, r4, lsl #1
    add     r5, r9, r5, lsl #1
    add     r2, r2, r6
    add     r3, r3, r7
    ldr     r6, [sp, #T_FACTOR]
    ldm     r1!, {r7-r9}                    @ bias, multiplier, shift
    .irp    sum, r2, r3, r4, r5, r10, r11, r12, lr
    mul     \sum, \sum, r6
    .endr
    add     r10, r7, r10, asr #6
    add     r11, r7, r11, asr #6
    add     r4, r7, r4, asr #5
    add     r5, r7, r5, asr #5
    add     r2, r7, r2, asr #4
    add     r3, r7, r3, asr #4
    add     r12, r7, r12, asr #4
    add     lr, r7, lr, asr #4
    further_shifts r6, r9
    bcs     .Lany
    ldr     r6, [sp, #T_ZERO]
    requantize_channels r6, r8, r9, "r2, r3, r4, r5, r10, r11, r12, lr"
.Lresults_stored:
    ldr     r6, [sp, #T_TO]
    strb    r10, [r6]
    strb    r4, [r6, #4]
    strb    r2, [r6, #8]
    strb    r12, [r6, #12]
    strb    r11, [r6, #16]
    strb    r5, [r6, #20]
    strb    r3, [r6, #24]
    strb    lr, [r6, #28]
    adds    r6, r6, #1
    str     r6, [sp, #T_TO]
    adds    r0, r0, #8
    ldr     r7, [sp, #T_ROW_END]
    cmp     r0, r7
    bne.w   .Lresults
    adds    r6, r6, #28
    str     r6, [sp, #T_TO]
    ldr     r7, [sp, #T_RESULTS]
    sub     r7, r7, #5 * SUMS_COLUMN
    cmp     r0, r7
    itt     ne
    subne   r1, r1, #48                     @ the numbers of four channels again
    bne.w   .Lresult_row
    @ Four rows of eight pixels of four channels each.
    ldr     r12, [sp, #T_JOB]
    ldr     lr, [sp, #T_CHANNEL]
    ldr     r0, [sp, #T_RESULTS]
    add     r11, lr, #4
    str     r11, [sp, #T_CHANNEL]
    ldr     r2, [r12, #JOB_IS_PART]
    cbnz    r2, .Lpart
    add     r11, r12, #JOB_OUTPUTS
    ldr     r12, [r12, #JOB_STEP]
.Lstore_row:
    ldm     r0!, {r2-r9}
    ldr     r10, [r11], #4
    add     r10, r10, lr
    str     r2, [r10]
    str     r3, [r10, r12]
    add     r10, r10, r12, lsl #1
    str     r4, [r10]
    str     r5, [r10, r12]
    add     r10, r10, r12, lsl #1
    str     r6, [r10]
    str     r7, [r10, r12]
    add     r10, r10, r12, lsl #1
    str     r8, [r10]
    str     r9, [r10, r12]
    ldr     r2, [sp, #T_TO]
    cmp     r0, r2
    bne     .Lstore_row
.Lstored:
    ldr     r12, [sp, #T_JOB]
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
    b       .Lstored
.Lany:
    add     r6, sp, #T_OTHER
    requantize_eight_any r6, r8, r9, "r2-r5, r10-r12, lr"
    b       .Lresults_stored

    .balign 4
.Lfactors:
    .word   0x38E38E39, 0x71C71C72, 0xE38E38E4, 0xE38E38E4  @ 1/9, 2/9, 4/9, 4/9 modulo 2^32

    loop
    .size cg_winograd4_tiles_s8_dsp, . - cg_winograd4_tiles_s8_dsp
