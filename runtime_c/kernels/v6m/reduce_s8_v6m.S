@ SPDX-License-Identifier: Apache-2.0
@ reduce_s8_v6m.S -- REDUCE_MAX and REDUCE_MIN on int8, ARMv6-M (contract: cg_reduce.h).
@
@ Assembly, because four elements are compared in a word: each in its upper byte, what is below it
@ decides nothing that is kept. 15 instructions for four columns of a row, 14 for four elements of a
@ line; 6 and 5 an element that is in no whole word; one more for each that is better.
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

    @ \x to \best if it is larger; `is_least`: if it is smaller. Changes the flags.
    .macro better x, best, is_least
    cmp     \x, \best
    .if     \is_least
    bge     9f
    .else
    ble     9f
    .endif
    mov     \best, \x
9:
    .endm

    @ A function of blocks: r8 columns, r9 a block's bytes, r11 blocks. Changes r3-r7 and the flags.
    .macro begin_rows
    save_all
    ldm     r0!, {r3-r5}
    mov     r11, r3
    mov     r8, r5
    muls    r4, r5, r4
    mov     r9, r4
    .endm

    @ r10 behind a block's first row. Changes r4.
    .macro begin_block
    mov     r4, r1
    add     r4, r8
    mov     r10, r4
    .endm

    @ r12 behind the rows of a column at r1. Changes r4.
    .macro begin_column
    mov     r4, r1
    add     r4, r9
    mov     r12, r4
    .endm

    @ From behind a column to the next, \bytes on; at \column again where there is one. Changes r4 and the
    @ flags.
    .macro next_column column, bytes
    adds    r2, r2, #\bytes
    mov     r4, r9
    subs    r1, r1, r4
    adds    r1, r1, #\bytes
    cmp     r1, r10
    bne     \column
    .endm

    @ From behind the first row to the next block at \block, or out of the function. Changes r4-r7 and the
    @ flags.
    .macro next_block block
    add     r1, r9
    mov     r4, r8
    subs    r1, r1, r4
    mov     r4, r11
    subs    r4, r4, #1
    mov     r11, r4
    bne     \block
    return_all
    .endm

    @ A whole function, of a multiple of 4 columns.
    .macro rows is_least
    begin_rows
.Lblock\@:
    begin_block
.Lcolumn\@:
    begin_column
    ldr     r7, [r1]
    lsls    r6, r7, #8
    lsls    r3, r7, #16
    lsls    r0, r7, #24
    b       2f
1:  ldr     r4, [r1]
    better  r4, r7, \is_least
    lsls    r5, r4, #8
    better  r5, r6, \is_least
    lsls    r5, r4, #16
    better  r5, r3, \is_least
    lsls    r5, r4, #24
    better  r5, r0, \is_least
2:  add     r1, r8
    cmp     r1, r12
    bne     1b
    lsrs    r0, r0, #24
    strb    r0, [r2]
    lsrs    r3, r3, #24
    strb    r3, [r2, #1]
    lsrs    r6, r6, #24
    strb    r6, [r2, #2]
    lsrs    r7, r7, #24
    strb    r7, [r2, #3]
    next_column .Lcolumn\@, 4
    next_block .Lblock\@
    .endm

    @ A whole function, of any number of columns.
    .macro odd_rows is_least
    begin_rows
    movs    r0, #0
.Lblock\@:
    begin_block
.Lcolumn\@:
    begin_column
    ldrsb   r7, [r1, r0]
    b       2f
1:  ldrsb   r4, [r1, r0]
    better  r4, r7, \is_least
2:  add     r1, r8
    cmp     r1, r12
    bne     1b
    strb    r7, [r2]
    next_column .Lcolumn\@, 1
    next_block .Lblock\@
    .endm

    @ A function of lines: r3 their length, r0 behind the last result, r12 what all others beat.
    .macro begin_lines worst
    push    {r4-r7, lr}
    ldr     r3, [r0, #8]
    ldr     r0, [r0, #4]
    adds    r0, r2, r0
    movs    r4, #\worst
    lsls    r4, r4, #24
    .endm

    @ A whole function, of lines of whole words.
    .macro lines is_least, worst
    begin_lines \worst
    mov     r12, r4
.Lline\@:
    mov     r6, r12
    adds    r7, r1, r3
1:  ldm     r1!, {r4}
    better  r4, r6, \is_least
    lsls    r5, r4, #8
    better  r5, r6, \is_least
    lsls    r5, r4, #16
    better  r5, r6, \is_least
    lsls    r5, r4, #24
    better  r5, r6, \is_least
    cmp     r1, r7
    bne     1b
    lsrs    r6, r6, #24
    strb    r6, [r2]
    adds    r2, r2, #1
    cmp     r2, r0
    bne     .Lline\@
    pop     {r4-r7, pc}
    .endm

    @ A whole function, of lines of any length.
    .macro odd_lines is_least, worst
    begin_lines \worst
    asrs    r4, r4, #24
    mov     r12, r4
.Lline\@:
    mov     r6, r12
    adds    r1, r1, r3
    rsbs    r7, r3, #0
1:  ldrsb   r4, [r1, r7]
    better  r4, r6, \is_least
    adds    r7, r7, #1
    bne     1b
    strb    r6, [r2]
    adds    r2, r2, #1
    cmp     r2, r0
    bne     .Lline\@
    pop     {r4-r7, pc}
    .endm

    function cg_reduce_max_rows_s8_v6m
    rows    0
    .size   cg_reduce_max_rows_s8_v6m, . - cg_reduce_max_rows_s8_v6m

    function cg_reduce_min_rows_s8_v6m
    rows    1
    .size   cg_reduce_min_rows_s8_v6m, . - cg_reduce_min_rows_s8_v6m

    function cg_reduce_max_odd_rows_s8_v6m
    odd_rows 0
    .size   cg_reduce_max_odd_rows_s8_v6m, . - cg_reduce_max_odd_rows_s8_v6m

    function cg_reduce_min_odd_rows_s8_v6m
    odd_rows 1
    .size   cg_reduce_min_odd_rows_s8_v6m, . - cg_reduce_min_odd_rows_s8_v6m

    function cg_reduce_max_lines_s8_v6m
    lines   0, 0x80
    .size   cg_reduce_max_lines_s8_v6m, . - cg_reduce_max_lines_s8_v6m

    function cg_reduce_min_lines_s8_v6m
    lines   1, 0x7f
    .size   cg_reduce_min_lines_s8_v6m, . - cg_reduce_min_lines_s8_v6m

    function cg_reduce_max_odd_lines_s8_v6m
    odd_lines 0, 0x80
    .size   cg_reduce_max_odd_lines_s8_v6m, . - cg_reduce_max_odd_lines_s8_v6m

    function cg_reduce_min_odd_lines_s8_v6m
    odd_lines 1, 0x7f
    .size   cg_reduce_min_odd_lines_s8_v6m, . - cg_reduce_min_odd_lines_s8_v6m
