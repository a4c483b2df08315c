/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack3x3_s8_rv32.S -- packs a row of taps of six pixels side by side, or of three, as 3x3
 * convolutions on RV32IM multiply it: planes of words of three columns (cg_rv32_parts.h).
 *
 * Why assembly: 23 registers are in use. A channel takes 32 instructions of six pixels, 23 of three,
 * and 13 (9) more each four channels; pixel by pixel it would be 54 and 27.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"

    .set FRAME, 64

    /* Columns \p, \q, \r of channel \k as two words to \plane. Changes a1, a6. */
    .macro  pack k, plane, p, q, r
    slli    a1, \q, 21
    slli    a6, \q, 10
    add     a1, a1, \p
    add     a6, a6, \r
    sw      a1, 8*\k(\plane)
    sw      a6, 8*\k + 4(\plane)
    .endm

    /* Channel \k of eight columns s0 to s7: planes a2 to a5 of every second one. Changes t0 to t6, a0. */
    .macro  channel6 k
    lb      t0, \k(s0)
    lb      t2, \k(s2)
    lb      t4, \k(s4)
    lb      t1, \k(s1)
    pack    \k, a2, t0, t2, t4
    lb      t3, \k(s3)
    lb      t5, \k(s5)
    lb      t6, \k(s6)
    pack    \k, a3, t1, t3, t5
    lb      a0, \k(s7)
    pack    \k, a4, t2, t4, t6
    pack    \k, a5, t3, t5, a0
    .endm

    /* Channel \k of five columns s0 to s4: planes a2 to a4 of columns side by side. Changes t0 to t4. */
    .macro  channel3 k
    lb      t0, \k(s0)
    lb      t1, \k(s1)
    lb      t2, \k(s2)
    lb      t3, \k(s3)
    pack    \k, a2, t0, t1, t2
    lb      t4, \k(s4)
    pack    \k, a3, t1, t2, t3
    pack    \k, a4, t2, t3, t4
    .endm

    /* Moves on by \count channels. */
    .macro  move6 count
    .irp    column, s0, s1, s2, s3, s4, s5, s6, s7
    addi    \column, \column, \count
    .endr
    .irp    plane, a2, a3, a4, a5
    addi    \plane, \plane, 8*\count
    .endr
    .endm

    /* Columns and planes of three pixels go on by \count channels. */
    .macro  move3 count
    .irp    column, s0, s1, s2, s3, s4
    addi    \column, \column, \count
    .endr
    .irp    plane, a2, a3, a4
    addi    \plane, \plane, 8*\count
    .endr
    .endm

    /* All a1 channels of columns that are found, to planes from a2 on: by four, then what is left.
     * Changes s8, s9. */
    .macro  all_channels pixels
    slli    a5, a1, 3
    add     a3, a2, a5
    add     a4, a3, a5
    add     a5, a4, a5
    andi    s8, a1, -4
    add     s8, s8, s0
    add     s9, a1, s0
    beq     s8, s0, 2f
1:
    .irp    k, 0, 1, 2, 3
    channel\pixels \k
    .endr
    move\pixels 4
    bne     s0, s8, 1b
2:  beq     s0, s9, 4f
3:  channel\pixels 0
    move\pixels 1
    bne     s0, s9, 3b
4:
    return_all FRAME
    .endm

    /* cg_pack6_s8_rv32(columns, channels, planes) */
    frame   cg_frame_cg_pack6_s8_rv32, FRAME
    function cg_pack6_s8_rv32
    save_all FRAME
    lw      s0, 0(a0)
    lw      s1, 4(a0)
    lw      s2, 8(a0)
    lw      s3, 12(a0)
    lw      s4, 16(a0)
    lw      s5, 20(a0)
    lw      s6, 24(a0)
    lw      s7, 28(a0)
    all_channels 6
    .size   cg_pack6_s8_rv32, . - cg_pack6_s8_rv32

    /* cg_pack3_s8_rv32(columns, channels, planes) */
    frame   cg_frame_cg_pack3_s8_rv32, FRAME
    function cg_pack3_s8_rv32
    save_all FRAME
    lw      s0, 0(a0)
    lw      s1, 4(a0)
    lw      s2, 8(a0)
    lw      s3, 12(a0)
    lw      s4, 16(a0)
    all_channels 3
    .size   cg_pack3_s8_rv32, . - cg_pack3_s8_rv32
