@ SPDX-License-Identifier: Apache-2.0
@ reduce_s8_v7m.S -- REDUCE_MAX and REDUCE_MIN on int8, ARMv7-M (contract: cg_reduce.h).
@
@ Assembly, because C keeps the best in memory: 15 instructions for four columns of a row, 14 for four
@ elements of a line, one more for each that is better.
#include "cg_needs_v7m.h"
#include "cg_asm.inc"

    @ r4 to \best if it is larger; `is_least`: if it is smaller. Changes the flags.
    .macro better best, is_least
    cmp     r4, \best
    .if     \is_least
    bge     9f
    .else
    ble     9f
    .endif
    mov     \best, r4
9:
    .endm

    @ Four columns at r1, r3 apart, up to lr, the best of each to r2; r1 goes on to the next. r0 is a block's
    @ bytes. Changes r4-r8, lr and the flags.
    .macro four_columns is_least
    adds    lr, r1, r0
    ldrsb   r5, [r1]
    ldrsb   r6, [r1, #1]
    ldrsb   r7, [r1, #2]
    ldrsb   r8, [r1, #3]
    b       2f
1:  ldrsb   r4, [r1]
    better  r5, \is_least
    ldrsb   r4, [r1, #1]
    better  r6, \is_least
    ldrsb   r4, [r1, #2]
    better  r7, \is_least
    ldrsb   r4, [r1, #3]
    better  r8, \is_least
2:  add     r1, r1, r3
    cmp     r1, lr
    bne     1b
    strb    r5, [r2], #1
    strb    r6, [r2], #1
    strb    r7, [r2], #1
    strb    r8, [r2], #1
    subs    r1, r1, r0
    adds    r1, r1, #4
    .endm

    @ One column, likewise.
    .macro column is_least
    adds    lr, r1, r0
    ldrsb   r5, [r1]
    b       2f
1:  ldrsb   r4, [r1]
    better  r5, \is_least
2:  add     r1, r1, r3
    cmp     r1, lr
    bne     1b
    strb    r5, [r2], #1
    subs    r1, r1, r0
    adds    r1, r1, #1
    .endm

    @ A whole function: r9 blocks, r10 columns that are left of one.
    .macro rows is_least
    push    {r4-r10, lr}
    ldr     r9, [r0]
    ldrd    r4, r3, [r0, #4]
    mul     r0, r4, r3
.Lblock\@:
    subs    r10, r3, #4
    blt     .Lfew\@
.Lfour\@:
    four_columns \is_least
    subs    r10, r10, #4
    bge     .Lfour\@
.Lfew\@:
    adds    r10, r10, #4
    beq     .Lnext\@
.Lone\@:
    column  \is_least
    subs    r10, r10, #1
    bne     .Lone\@
.Lnext\@:
    adds    r1, r1, r0
    subs    r1, r1, r3
    subs    r9, r9, #1
    bne     .Lblock\@
    pop     {r4-r10, pc}
    .endm

    @ A whole function: lines of r3 elements, r0 behind the last result, r7 what all others beat.
    .macro lines is_least, worst
    push    {r4-r7, lr}
    ldrd    r4, r3, [r0, #4]
    adds    r0, r2, r4
    mov     r7, #\worst
.Lline\@:
    mov     r5, r7
    subs    r6, r3, #4
    blt     2f
1:  ldrsb   r4, [r1], #1
    better  r5, \is_least
    ldrsb   r4, [r1], #1
    better  r5, \is_least
    ldrsb   r4, [r1], #1
    better  r5, \is_least
    ldrsb   r4, [r1], #1
    better  r5, \is_least
    subs    r6, r6, #4
    bge     1b
2:  adds    r6, r6, #4
    beq     4f
3:  ldrsb   r4, [r1], #1
    better  r5, \is_least
    subs    r6, r6, #1
    bne     3b
4:  strb    r5, [r2], #1
    cmp     r2, r0
    bne     .Lline\@
    pop     {r4-r7, pc}
    .endm

    function cg_reduce_max_rows_s8_v7m
    rows    0
    .size   cg_reduce_max_rows_s8_v7m, . - cg_reduce_max_rows_s8_v7m

    function cg_reduce_min_rows_s8_v7m
    rows    1
    .size   cg_reduce_min_rows_s8_v7m, . - cg_reduce_min_rows_s8_v7m

    function cg_reduce_max_lines_s8_v7m
    lines   0, -128
    .size   cg_reduce_max_lines_s8_v7m, . - cg_reduce_max_lines_s8_v7m

    function cg_reduce_min_lines_s8_v7m
    lines   1, 127
    .size   cg_reduce_min_lines_s8_v7m, . - cg_reduce_min_lines_s8_v7m
