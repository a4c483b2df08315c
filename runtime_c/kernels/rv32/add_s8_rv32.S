/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_s8_rv32.S -- ADD and SUB of two int8 tensors of one shape, RV32IM: a line that was proved
 * (cg_kernels_rv32.h).
 *
 * Why assembly: gcc sign-extends both ends of the range. An element takes 10 instructions, a turn of
 * four 4 more.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"
#include "cg_requantize_rv32.inc"

    /* Element \at of both arguments. t0 t1 factors, t2 offset, t3 shift, t4 t5 range. Changes a5, a6. */
    .macro  element at
    lb      a5, \at(a1)
    lb      a6, \at(a2)
    mul     a5, a5, t0
    mul     a6, a6, t1
    add     a5, a5, t2
    add     a5, a5, a6
    sra     a5, a5, t3
    clamp   a5, t4, t5
    sb      a5, \at(a3)
    .endm

    /* Moves on by \count elements. */
    .macro  move count
    addi    a1, a1, \count
    addi    a2, a2, \count
    addi    a3, a3, \count
    .endm

    /* cg_add_s8_rv32(params, lhs, rhs, output), and with a count */
    function cg_add_s8_rv32
    lw      a4, 0(a0)
    entry   cg_add_s8_rv32_run
    lw      t0, 4(a0)
    lw      t1, 8(a0)
    lw      t2, 12(a0)
    lw      t3, 16(a0)
    lw      t4, 20(a0)
    lw      t5, 24(a0)
    andi    a7, a4, -4
    add     a7, a7, a1
    add     a4, a4, a1
    beq     a1, a7, 2f
1:
    .irp    at, 0, 1, 2, 3
    element \at
    .endr
    move    4
    bne     a1, a7, 1b
2:  beq     a1, a4, 4f
3:  element 0
    move    1
    bne     a1, a4, 3b
4:  ret
    .size   cg_add_s8_rv32, . - cg_add_s8_rv32
    .size   cg_add_s8_rv32_run, . - cg_add_s8_rv32_run
