/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_groups_s8_rv32.S -- sums of sixteen outputs of a row, of four, of one, RV32IM.
 *
 * Why assembly: gcc spills sixteen sums. An input takes 49 instructions of sixteen outputs (3.06 a
 * multiply-accumulate), 13 of four, 4 of one; a turn of eight inputs 3 more.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"

    .set FRAME, 64

    /* The input in a4 times the weight at \at, to \sum. Changes \free. */
    .macro  weight at, sum, free
    lb      \free, \at(a2)
    mul     \free, \free, a4
    add     \sum, \sum, \free
    .endm

    /* Input \k times sixteen weights. */
    .macro  input16 k
    lb      a4, \k(a0)
    weight  16*\k, t0, a5
    weight  16*\k + 1, t1, a6
    weight  16*\k + 2, t2, a7
    weight  16*\k + 3, t3, s11
    weight  16*\k + 4, t4, a5
    weight  16*\k + 5, t5, a6
    weight  16*\k + 6, t6, a7
    weight  16*\k + 7, s0, s11
    weight  16*\k + 8, s1, a5
    weight  16*\k + 9, s2, a6
    weight  16*\k + 10, s3, a7
    weight  16*\k + 11, s4, s11
    weight  16*\k + 12, s5, a5
    weight  16*\k + 13, s6, a6
    weight  16*\k + 14, s7, a7
    weight  16*\k + 15, s8, s11
    .endm

    /* Times four. */
    .macro  input4 k
    lb      a4, \k(a0)
    weight  4*\k, t0, a5
    weight  4*\k + 1, t1, a6
    weight  4*\k + 2, t2, a7
    weight  4*\k + 3, t3, a5
    .endm

    /* Times one. */
    .macro  input1 k
    lb      a4, \k(a0)
    weight  \k, t0, a5
    .endm

    /* All a1 inputs times \count weights each: by eight, then one by one. Changes a0, a1, a2, t5, t6;
     * of sixteen s9, s10 instead. */
    .macro  inputs count, end8=t5, end=t6
    andi    \end8, a1, -8
    add     \end, a0, a1
    add     \end8, \end8, a0
    beq     a0, \end8, 2f
1:
    .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
    input\count \k
    .endr
    addi    a0, a0, 8
    addi    a2, a2, 8*\count
    bne     a0, \end8, 1b
2:  beq     a0, \end, 4f
3:  input\count 0
    addi    a0, a0, 1
    addi    a2, a2, \count
    bne     a0, \end, 3b
4:
    .endm

    /* cg_fc_group16_s8_rv32(input, in_len, weights, sums) */
    frame   cg_frame_cg_fc_group16_s8_rv32, FRAME
    function cg_fc_group16_s8_rv32
    save_all FRAME
    .irp    sum, t0, t1, t2, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8
    li      \sum, 0
    .endr
    inputs  16, s9, s10
    .set    at, 0
    .irp    sum, t0, t1, t2, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8
    sw      \sum, at(a3)
    .set    at, at + 4
    .endr
    return_all FRAME
    .size   cg_fc_group16_s8_rv32, . - cg_fc_group16_s8_rv32

    /* cg_fc_group4_s8_rv32(input, in_len, weights, sums) */
    function cg_fc_group4_s8_rv32
    li      t0, 0
    li      t1, 0
    li      t2, 0
    li      t3, 0
    inputs  4
    sw      t0, 0(a3)
    sw      t1, 4(a3)
    sw      t2, 8(a3)
    sw      t3, 12(a3)
    ret
    .size   cg_fc_group4_s8_rv32, . - cg_fc_group4_s8_rv32

    /* cg_fc_group1_s8_rv32(input, in_len, weights, sums) */
    function cg_fc_group1_s8_rv32
    li      t0, 0
    inputs  1
    sw      t0, 0(a3)
    ret
    .size   cg_fc_group1_s8_rv32, . - cg_fc_group1_s8_rv32
