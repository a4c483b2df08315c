/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_pairs_s8_rv32.S -- eight channels at a time of a row of an image, as depthwise convolutions
 * on RV32IM keep it (cg_rv32_parts.h).
 *
 * Why assembly: four columns of eight channels take 23 instructions, 30 by gcc.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"

    /* The next column at t1 to column \k of two groups a0, a6. Changes t3, t4. */
    .macro  keep_column k
    lw      t3, 0(t1)
    lw      t4, 4(t1)
    add     t1, t1, a3
    sw      t3, 8*\k(a0)
    sw      t4, 8*\k(a6)
    .endm

    /* cg_keep_pairs_s8_rv32(to, group, from, step, columns, eights) */
    frame   cg_frame_cg_keep_pairs_s8_rv32, 0
    function cg_keep_pairs_s8_rv32
    andi    t0, a4, 3
    andi    a4, a4, -4
    slli    a4, a4, 3
1:  add     a6, a0, a1
    add     a7, a6, a1
    mv      t1, a2
    add     t2, a4, a0
    beqz    a4, 3f
2:
    .irp    k, 0, 1, 2, 3
    keep_column \k
    .endr
    addi    a0, a0, 32
    addi    a6, a6, 32
    bne     a0, t2, 2b
3:  mv      t2, t0
    beqz    t2, 5f
4:  keep_column 0
    addi    a0, a0, 8
    addi    a6, a6, 8
    addi    t2, t2, -1
    bnez    t2, 4b
5:  mv      a0, a7
    addi    a2, a2, 8
    addi    a5, a5, -1
    bnez    a5, 1b
    ret
    .size   cg_keep_pairs_s8_rv32, . - cg_keep_pairs_s8_rv32
