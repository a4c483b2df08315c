@ SPDX-License-Identifier: Apache-2.0
@ reduce_s8_dsp.S -- REDUCE_MAX and REDUCE_MIN on int8, DSP extension (contract: cg_reduce.h).
@
@ Assembly for SSUB8 with SEL, two instructions for four elements: rows take 12 for 16 columns, lines 11
@ for 16 elements.
#include "cg_needs_dsp.h"
#include "cg_asm.inc"

    @ Takes the larger of two bytes each of \x and \best to \best; `is_least`: smaller. Changes r12 and
    @ the GE flags.
    .macro better x, best, is_least
    .if     \is_least
    ssub8   r12, \best, \x
    .else
    ssub8   r12, \x, \best
    .endif
    sel     \best, \x, \best
    .endm

    @ Stores the best of a column to r2: words or bytes at r1, r3 apart, up to lr. r1 moves on.
    @ Changes r4, r8, r12, lr and the flags.
    .macro column load, store, bytes, is_least
    ldr     lr, [sp, #4]
    adds    lr, r1, lr
    \load   r8, [r1]
    b       2f
1:  \load   r4, [r1]
    better  r4, r8, \is_least
2:  add     r1, r1, r3
    cmp     r1, lr
    bne     1b
    \store  r8, [r2], #\bytes
    ldr     r12, [sp, #4]
    sub     r1, r1, r12
    adds    r1, r1, #\bytes
    .endm

    @ Each four columns of bytes as above, four at a time: columns may begin anywhere. Changes r4-r12, lr
    @ and the flags.
    .macro byte_columns is_least
    ldr     lr, [sp, #4]
    adds    lr, r1, lr
    ldrb    r8, [r1]
    ldrb    r9, [r1, #1]
    ldrb    r10, [r1, #2]
    ldrb    r11, [r1, #3]
    b       2f
1:  ldrb    r4, [r1]
    ldrb    r5, [r1, #1]
    ldrb    r6, [r1, #2]
    ldrb    r7, [r1, #3]
    better  r4, r8, \is_least
    better  r5, r9, \is_least
    better  r6, r10, \is_least
    better  r7, r11, \is_least
2:  add     r1, r1, r3
    cmp     r1, lr
    bne     1b
    strb    r8, [r2], #1
    strb    r9, [r2], #1
    strb    r10, [r2], #1
    strb    r11, [r2], #1
    ldr     r12, [sp, #4]
    sub     r1, r1, r12
    adds    r1, r1, #4
    .endm

    @ 16 columns, as words. Changes r4-r12, lr and the flags.
    .macro word_columns is_least
    ldr     lr, [sp, #4]
    adds    lr, r1, lr
    ldm     r1, {r8-r11}
    b       2f
1:  ldm     r1, {r4-r7}
    better  r4, r8, \is_least
    better  r5, r9, \is_least
    better  r6, r10, \is_least
    better  r7, r11, \is_least
2:  add     r1, r1, r3
    cmp     r1, lr
    bne     1b
    stm     r2!, {r8-r11}
    ldr     r12, [sp, #4]
    sub     r1, r1, r12
    adds    r1, r1, #16
    .endm

    @ A function of blocks: on the stack their number and the bytes of one; r0 is behind the first row.
    .macro begin_rows
    push    {r4-r11, lr}
    ldm     r0, {r4-r6}
    muls    r5, r6, r5
    mov     r3, r6
    push    {r4, r5}
    .endm

    @ From behind the first row on to the next block at \block, or out of the function. Changes r4, r5 and
    @ the flags.
    .macro next_block block
    ldrd    r4, r5, [sp]
    adds    r1, r1, r5
    sub     r1, r1, r3
    subs    r4, r4, #1
    str     r4, [sp]
    bne     \block
    add     sp, sp, #8
    pop     {r4-r11, pc}
    .endm

    @ The whole function, of a multiple of 4 columns.
    .macro rows is_least
    begin_rows
.Lblock\@:
    adds    r0, r1, r3
    cmp     r3, #16
    blt     .Lwords\@
.Lgroups\@:
    word_columns \is_least
    sub     r4, r0, r1
    cmp     r4, #16
    bge     .Lgroups\@
    cbz     r4, .Lnext\@
.Lwords\@:
    column  ldr, str, 4, \is_least
    cmp     r1, r0
    bne     .Lwords\@
.Lnext\@:
    next_block .Lblock\@
    .endm

    @ The whole function, of any number of columns.
    .macro odd_rows is_least
    begin_rows
.Lblock\@:
    adds    r0, r1, r3
    cmp     r3, #4
    blt     .Lbytes\@
.Lgroups\@:
    byte_columns \is_least
    sub     r4, r0, r1
    cmp     r4, #4
    bge     .Lgroups\@
    cbz     r4, .Lnext\@
.Lbytes\@:
    column  ldrb, strb, 1, \is_least
    cmp     r1, r0
    bne     .Lbytes\@
.Lnext\@:
    next_block .Lblock\@
    .endm

    @ \bytes at r1 in whole words, 16 bytes at a time and then four, into the best four bytes in r4. Changes
    @ r6-r9, r12, lr and the flags; r1 goes on behind them.
    .macro words bytes, is_least
    subs    lr, \bytes, #16
    blt     2f
1:  ldm     r1!, {r6-r9}
    better  r6, r4, \is_least
    better  r7, r4, \is_least
    better  r8, r4, \is_least
    better  r9, r4, \is_least
    subs    lr, lr, #16
    bge     1b
2:  adds    lr, lr, #16
    beq     4f
3:  ldr     r6, [r1], #4
    better  r6, r4, \is_least
    subs    lr, lr, #4
    bne     3b
4:
    .endm

    @ The byte at r1 into the first of the best four in r4. Changes r6, r7, r12 and the GE flags.
    .macro byte is_least
    ldrb    r6, [r1], #1
    mov     r7, r4
    bfi     r7, r6, #0, #8
    better  r7, r4, \is_least
    .endm

    @ The best of four bytes in r4 to r2. Changes r6, r12 and the GE flags.
    .macro fold is_least
    ror     r6, r4, #16
    better  r6, r4, \is_least
    ror     r6, r4, #8
    better  r6, r4, \is_least
    strb    r4, [r2], #1
    .endm

    @ A function of lines: r3 their length, r0 behind the last result, r11 four bytes that all others beat.
    .macro begin_lines worst
    push    {r4-r11, lr}
    ldrd    r4, r3, [r0, #4]
    adds    r0, r2, r4
    mov     r11, #\worst
    .endm

    @ The whole function, of lines of whole words.
    .macro lines is_least, worst
    begin_lines \worst
.Lline\@:
    mov     r4, r11
    words   r3, \is_least
    fold    \is_least
    cmp     r2, r0
    bne     .Lline\@
    pop     {r4-r11, pc}
    .endm

    @ The whole function, of lines of any length: bytes, words where these begin, bytes.
    .macro odd_lines is_least, worst
    begin_lines \worst
.Lline\@:
    mov     r4, r11
    add     r5, r1, r3
    b       .Lhead\@
.Lfirst\@:
    byte    \is_least
.Lhead\@:
    cmp     r1, r5
    beq     .Ldone\@
    tst     r1, #3
    bne     .Lfirst\@
    sub     r10, r5, r1
    bic     r10, r10, #3
    words   r10, \is_least
    b       .Ltail\@
.Llast\@:
    byte    \is_least
.Ltail\@:
    cmp     r1, r5
    bne     .Llast\@
.Ldone\@:
    fold    \is_least
    cmp     r2, r0
    bne     .Lline\@
    pop     {r4-r11, pc}
    .endm

    function cg_reduce_max_rows_s8_dsp
    rows    0
    .size   cg_reduce_max_rows_s8_dsp, . - cg_reduce_max_rows_s8_dsp

    function cg_reduce_min_rows_s8_dsp
    rows    1
    .size   cg_reduce_min_rows_s8_dsp, . - cg_reduce_min_rows_s8_dsp

    function cg_reduce_max_odd_rows_s8_dsp
    odd_rows 0
    .size   cg_reduce_max_odd_rows_s8_dsp, . - cg_reduce_max_odd_rows_s8_dsp

    function cg_reduce_min_odd_rows_s8_dsp
    odd_rows 1
    .size   cg_reduce_min_odd_rows_s8_dsp, . - cg_reduce_min_odd_rows_s8_dsp

    function cg_reduce_max_lines_s8_dsp
    lines   0, 0x80808080
    .size   cg_reduce_max_lines_s8_dsp, . - cg_reduce_max_lines_s8_dsp

    function cg_reduce_min_lines_s8_dsp
    lines   1, 0x7f7f7f7f
    .size   cg_reduce_min_lines_s8_dsp, . - cg_reduce_min_lines_s8_dsp

    function cg_reduce_max_odd_lines_s8_dsp
    odd_lines 0, 0x80808080
    .size   cg_reduce_max_odd_lines_s8_dsp, . - cg_reduce_max_odd_lines_s8_dsp

    function cg_reduce_min_odd_lines_s8_dsp
    odd_lines 1, 0x7f7f7f7f
    .size   cg_reduce_min_odd_lines_s8_dsp, . - cg_reduce_min_odd_lines_s8_dsp
