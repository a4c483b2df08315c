/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather_s8_rv32.S -- packs values of six pixels, or of three, as convolutions on RV32IM multiply
 * them: of p, q, r the words p + q * 2^21 and r + q * 2^10 (cg_kernels_rv32.h).
 *
 * Why assembly: gcc spills six addresses and six values. A value takes 18 instructions of six
 * pixels, 9 of three, and 8 (5) more each four values.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"

    /* Values p, q, r of three pixels as two words to \at of the tile a1. Changes s0, \p and \r. */
    .macro  pack at, p, q, r
    slli    s0, \q, 21
    add     \p, \p, s0
    slli    s0, \q, 10
    add     \r, \r, s0
    sw      \p, \at(a1)
    sw      \r, \at + 4(a1)
    .endm

    /* Value \k of six pixels at a3, a4, a5, a6, a7, t0. Changes t1 to t6, s0. */
    .macro  pack6 k
    lb      t1, \k(a3)
    lb      t2, \k(a4)
    lb      t3, \k(a5)
    lb      t4, \k(a6)
    lb      t5, \k(a7)
    lb      t6, \k(t0)
    pack    16*\k, t1, t2, t3
    pack    16*\k + 8, t4, t5, t6
    .endm

    /* Value \k of three pixels at a3, a4, a5. Changes t1 to t3, s0. */
    .macro  pack3 k
    lb      t1, \k(a3)
    lb      t2, \k(a4)
    lb      t3, \k(a5)
    pack    8*\k, t1, t2, t3
    .endm

    /* Moves on by \count values. */
    .macro  move6 count
    addi    a3, a3, \count
    addi    a4, a4, \count
    addi    a5, a5, \count
    addi    a6, a6, \count
    addi    a7, a7, \count
    addi    t0, t0, \count
    addi    a1, a1, 16*\count
    .endm

    /* Moves three pixels. */
    .macro  move3 count
    addi    a3, a3, \count
    addi    a4, a4, \count
    addi    a5, a5, \count
    addi    a1, a1, 8*\count
    .endm

    /* All a2 values, a multiple of four and what is left. Changes a0, a2 and what the steps do. */
    .macro  pack_all pixels
    andi    a0, a2, -4
    add     a0, a0, a3
    add     a2, a2, a3
    beq     a0, a3, 2f
1:
    .irp    k, 0, 1, 2, 3
    pack\pixels \k
    .endr
    move\pixels 4
    bne     a3, a0, 1b
2:  beq     a3, a2, 4f
3:  pack\pixels 0
    move\pixels 1
    bne     a3, a2, 3b
4:  lw      s0, 0(sp)
    addi    sp, sp, 16
    ret
    .endm

    /* cg_gather6_s8_rv32(from, pixels, count) */
    frame   cg_frame_cg_gather6_s8_rv32, 16
    function cg_gather6_s8_rv32
    addi    sp, sp, -16
    sw      s0, 0(sp)
    lw      a3, 0(a0)
    lw      a4, 4(a0)
    lw      a5, 8(a0)
    lw      a6, 12(a0)
    lw      a7, 16(a0)
    lw      t0, 20(a0)
    pack_all 6
    .size   cg_gather6_s8_rv32, . - cg_gather6_s8_rv32

    /* cg_gather3_s8_rv32(from, pixels, count) */
    frame   cg_frame_cg_gather3_s8_rv32, 16
    function cg_gather3_s8_rv32
    addi    sp, sp, -16
    sw      s0, 0(sp)
    lw      a3, 0(a0)
    lw      a4, 4(a0)
    lw      a5, 8(a0)
    pack_all 3
    .size   cg_gather3_s8_rv32, . - cg_gather3_s8_rv32
