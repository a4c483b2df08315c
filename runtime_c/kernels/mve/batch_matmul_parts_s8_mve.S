@ SPDX-License-Identifier: Apache-2.0
/*
 * batch_matmul_parts_s8_mve.S -- rows and columns of BATCH_MATMUL laid out, and two rows by all
 * columns, int8, Helium. Contracts and structs: batch_matmul_s8_mve.c.
 *
 * Assembly, because gcc 12 makes no tail-predicated loops (DLSTP/LETP) and does not keep four sums
 * in the even registers that VMLADAVA demands.
 *
 * Two rows by two columns: 9 instructions for 64 products. Columns c and c + 2, then c + 1 and c + 3:
 * one VMOV puts two sums into lanes 0 and 2, or 1 and 3. The last four columns begin earlier where
 * columns are no multiple of four: some results are computed and stored again.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* void cg_matmul_lines_s8_mve(side, from, terms, count, to) */
    function     cg_matmul_lines_s8_mve
    ldr          r12, [sp]
    push         {r4-r11, lr}
    ldm          r0, {r5-r9}               /* apart, next, depth, zero, term */
    cmp          r6, #1
    beq          .Lcontiguous
    movs         r0, #0
    vidup.u16    q1, r0, #1
    vmul.i16     q1, q1, r6
    lsls         r6, r6, #3
    mov          r0, r12
    rsb          r11, r7, #0
    and          r11, r11, #7
.Lapart:
    mov          r10, r1
    movs         r4, #0
    dlstp.16     lr, r7
1:  vldrb.s16    q0, [r10, q1]
    add          r10, r10, r6
    vaddva.s16   r4, q0
    vstrb.16     q0, [r0], #8
    letp         lr, 1b
    subs         r0, r0, r11               /* behind the last factor */
    mla          r4, r4, r8, r9
    str          r4, [r2], #4
    add          r1, r1, r5
    subs         r3, r3, #1
    bne          .Lapart
    pop          {r4-r11, pc}
.Lcontiguous:
    mov          r10, r1
    movs         r4, #0
    dlstp.8      lr, r7
1:  vldrb.8      q0, [r10], #16
    vaddva.s8    r4, q0
    letp         lr, 1b
    mla          r4, r4, r8, r9
    str          r4, [r2], #4
    add          r1, r1, r5
    subs         r3, r3, #1
    bne          .Lcontiguous
    pop          {r4-r11, pc}
    .size cg_matmul_lines_s8_mve, . - cg_matmul_lines_s8_mve

/* The frame: the struct's first words, the outputs. */
#define ROWS     0
#define TERMS    8 /* and multiplier, shift */
#define OUTPUTS  24
#define COUNT    32
#define SPACE    40

/* Two rows by the columns at r5 and r9: sums r0 r2 of the first row, r4 r6 of the second. */
.macro multiply_pair
    ldrd         r1, r3, [sp, #ROWS]
    ldrd         r0, r4, [sp, #TERMS]
    mov          r2, r0
    mov          r6, r4
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q2, [r5], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q3, [r9], #16
    vmladava.s8  r0, q0, q2
    vmladava.s8  r4, q1, q2
    vmladava.s8  r2, q0, q3
    vmladava.s8  r6, q1, q3
    letp         lr, 1b
.endm

/* Sums times r0, by r2 to the right, plus r8, between q6 and q7. Changes `other`. */
.macro scaled sums, other
    vqrdmulh.s32 \sums, \sums, r0
    vshr.s32     \other, \sums, #31
    vadd.i32     \sums, \sums, \other
    vrshl.s32    \sums, r2
    vadd.i32     \sums, \sums, r8
    vmax.s32     \sums, \sums, q6
    vmin.s32     \sums, \sums, q7
.endm

/* void cg_matmul_rows_s8_mve(rows, first, second) */
    frame        cg_frame_cg_matmul_rows_s8_mve, SPACE, 100 /* d8-d15 too */
    function     cg_matmul_rows_s8_mve
    push         {r4-r11, lr}
    vpush        {d8-d15}
    sub          sp, sp, #SPACE
    strd         r1, r2, [sp, #OUTPUTS]
    ldm          r0!, {r1-r6}              /* rows, terms, multiplier, shift */
    stm          sp, {r1-r6}
    ldm          r0, {r6-r11}              /* columns, apart, depth, column_terms, count, out_zero */
    mov          r12, r8
    mov          r8, r11
    mov          r11, r7
    mov          r7, r9
    str          r10, [sp, #COUNT]
    mov          r10, r6
    mvn          r0, #127
    vdup.32      q6, r0
    movs         r0, #127
    vdup.32      q7, r0
.Lfour:
    mov          r5, r10
    add          r9, r10, r11, lsl #1
    multiply_pair
    vmov         q4[2], q4[0], r0, r2
    vmov         q5[2], q5[0], r4, r6
    add          r5, r10, r11
    add          r9, r5, r11, lsl #1
    multiply_pair
    vmov         q4[3], q4[1], r0, r2
    vmov         q5[3], q5[1], r4, r6
    vldrw.u32    q0, [r7], #16
    vadd.i32     q4, q4, q0
    vadd.i32     q5, q5, q0
    ldrd         r0, r2, [sp, #(TERMS + 8)]
    scaled       q4, q0
    scaled       q5, q1
    ldrd         r4, r6, [sp, #OUTPUTS]
    ldr          r0, [sp, #COUNT]
    vstrb.32     q4, [r4], #4
    vstrb.32     q5, [r6], #4
    add          r10, r10, r11, lsl #2
    subs         r0, r0, #4
    beq          .Ldone
    cmp          r0, #4
    bge          .Lwhole
    rsb          r1, r0, #4                /* the last four columns begin so many earlier */
    subs         r4, r4, r1
    subs         r6, r6, r1
    sub          r7, r7, r1, lsl #2
    mls          r10, r1, r11, r10
    movs         r0, #4
.Lwhole:
    strd         r4, r6, [sp, #OUTPUTS]
    str          r0, [sp, #COUNT]
    b            .Lfour
.Ldone:
    add          sp, sp, #SPACE
    vpop         {d8-d15}
    pop          {r4-r11, pc}
    .size cg_matmul_rows_s8_mve, . - cg_matmul_rows_s8_mve
