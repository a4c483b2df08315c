@ SPDX-License-Identifier: Apache-2.0
@ winograd_parts_s8_dsp.S -- F(2x2, 3x3) on int8 images, DSP extension: pixels of a block transformed,
@ products summed, results transformed back and requantized.
@
@ A result needs 16 products where the direct kernel has 36. Layouts and contracts:
@ cg_winograd_parts_dsp.h.
    .set INTERLEAVED, 0
#include "cg_needs_dsp.h"
#include "cg_winograd2_dsp.inc"

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

    @ Offsets of first, count, step, groups and padding in cg_winograd_block.
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

/* void cg_winograd_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel) */
    tiles_of_two cg_winograd_tiles_s8_dsp
