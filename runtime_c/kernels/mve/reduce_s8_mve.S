@ SPDX-License-Identifier: Apache-2.0
/*
 * reduce_s8_mve.S -- REDUCE_MAX and REDUCE_MIN on int8, Helium (contract: cg_reduce.h): 4 or 5
 * instructions for 16 columns of a row, 3 for 16 elements of a line.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* The best of 16 columns at r1, or of the first r7 (`is_part`), r3 apart, r5 rows behind the first, goes
   to r2; both move 16 bytes on. Changes r12, lr, q0, q1 and the predicate. */
.macro columns op, is_part
    mov          r12, r1
    .if          \is_part
    vctp.8       r7
    vpst
    vldrbt.u8    q0, [r1], #16
    .else
    vldrb.u8     q0, [r1], #16
    .endif
    wls          lr, r5, 2f
1:  add          r12, r12, r3
    .if          \is_part
    vpst
    vldrbt.u8    q1, [r12]
    .else
    vldrb.u8     q1, [r12]
    .endif
    \op\().s8    q0, q0, q1
    le           lr, 1b
2:
    .if          \is_part
    vpst
    vstrbt.8     q0, [r2], #16
    .else
    vstrb.8      q0, [r2], #16
    .endif
.endm

/* A whole function: r0 is the bytes behind a block's first row, r4 blocks. */
.macro rows op
    push         {r4-r7, lr}
    ldm          r0, {r4-r6}
    subs         r5, r5, #1
    mul          r0, r5, r6
    mov          r3, r6
.Lblock\@:
    subs         r7, r6, #16
    blt          .Lpart\@
.Lwhole\@:
    columns      \op, 0
    subs         r7, r7, #16
    bge          .Lwhole\@
.Lpart\@:
    adds         r7, r7, #16
    beq          .Lnext\@
    columns      \op, 1
    subs         r7, r7, #16
    add          r1, r1, r7
    add          r2, r2, r7
.Lnext\@:
    add          r1, r1, r0
    subs         r4, r4, #1
    bne          .Lblock\@
    pop          {r4-r7, pc}
.endm

/* A whole function: r4 lines of r3 elements, none of which is behind `worst`. */
.macro lines op, worst
    push         {r4-r6, lr}
    ldrd         r4, r3, [r0, #4]
    .if          \worst < 0
    mvn          r6, #(-1 - \worst)
    .else
    mov          r6, #\worst
    .endif
    cmp          r3, #16
    bls          .Lshort\@
.Lline\@:
    mov          r5, r6
    add          r0, r1, r3
    dlstp.8      lr, r3
1:  vldrb.u8     q0, [r1], #16
    \op\().s8    r5, q0
    letp         lr, 1b
    mov          r1, r0
    strb         r5, [r2], #1
    subs         r4, r4, #1
    bne          .Lline\@
    pop          {r4-r6, pc}
.Lshort\@:
    vctp.8       r3
    dls          lr, r4
1:  mov          r5, r6
    vpstt
    vldrbt.u8    q0, [r1]
    \op\()t.s8   r5, q0
    add          r1, r1, r3
    strb         r5, [r2], #1
    le           lr, 1b
    pop          {r4-r6, pc}
.endm

    function     cg_reduce_max_rows_s8_mve
    rows         vmax
    .size cg_reduce_max_rows_s8_mve, . - cg_reduce_max_rows_s8_mve

    function     cg_reduce_min_rows_s8_mve
    rows         vmin
    .size cg_reduce_min_rows_s8_mve, . - cg_reduce_min_rows_s8_mve

    function     cg_reduce_max_lines_s8_mve
    lines        vmaxv, -128
    .size cg_reduce_max_lines_s8_mve, . - cg_reduce_max_lines_s8_mve

    function     cg_reduce_min_lines_s8_mve
    lines        vminv, 127
    .size cg_reduce_min_lines_s8_mve, . - cg_reduce_min_lines_s8_mve
