/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd_parts_s8_rv32.S -- Winograd's F(2x2, 3x3) of four tiles side by side, RV32IM: pixels
 * transformed, products of four result channels, results (cg_rv32_parts.h).
 *
 * Why assembly: gcc spills sixteen sums, and tiles share columns that it loads again. A channel of
 * the image takes 256 instructions to transform, 40 for each 16 products; a tile of a result channel
 * 88 for four results.
 */
#include "cg_needs_rv32.h"
#include "cg_asm_rv32.inc"
#include "cg_requantize_rv32.inc"

    .set FRAME, 64
    .set F_OUTPUT, 52
    .set F_LEFT, 56

    /* The next column of four rows, transformed downwards. a5: bytes to the next one. Changes a7. */
    .macro  load_column v0, v1, v2, v3
    lb      \v0, 0(a0)
    lb      \v2, 0(a2)
    lb      a7, 0(a1)
    lb      \v3, 0(a3)
    add     a0, a0, a5
    add     a1, a1, a5
    add     a2, a2, a5
    add     a3, a3, a5
    sub     \v0, \v0, \v2
    add     \v1, a7, \v2
    sub     \v2, \v2, a7
    sub     \v3, a7, \v3
    .endm

    /* Row \a of tile \t from four columns. Changes a6, a7. */
    .macro  store_row a, t, c0, c1, c2, c3
    sub     a6, \c0, \c2
    add     a7, \c1, \c2
    sh      a6, 32*\a + 2*\t(a4)
    sh      a7, 32*\a + 8 + 2*\t(a4)
    sub     a6, \c2, \c1
    sub     a7, \c1, \c3
    sh      a6, 32*\a + 16 + 2*\t(a4)
    sh      a7, 32*\a + 24 + 2*\t(a4)
    .endm

    /* Tile \t from its first two columns in s0 to s7 and two more, which go to t0 to t6, s8. */
    .macro  even_tile t
    load_column t0, t1, t2, t3
    load_column t4, t5, t6, s8
    store_row 0, \t, s0, s4, t0, t4
    store_row 1, \t, s1, s5, t1, t5
    store_row 2, \t, s2, s6, t2, t6
    store_row 3, \t, s3, s7, t3, s8
    .endm

    /* The other way round. */
    .macro  odd_tile t
    load_column s0, s1, s2, s3
    load_column s4, s5, s6, s7
    store_row 0, \t, t0, t4, s0, s4
    store_row 1, \t, t1, t5, s1, s5
    store_row 2, \t, t2, t6, s2, s6
    store_row 3, \t, t3, s8, s3, s7
    .endm

    /* cg_winograd_pixels_s8_rv32(lines, pixels, channels) */
    frame   cg_frame_cg_winograd_pixels_s8_rv32, FRAME
    function cg_winograd_pixels_s8_rv32
    save_all FRAME
    mv      a4, a1
    mv      a5, a2
    mv      s9, a2
    lw      a1, 4(a0)
    lw      a2, 8(a0)
    lw      a3, 12(a0)
    lw      a0, 0(a0)
    slli    s10, a5, 3
    slli    s11, a5, 1
    add     s10, s10, s11
    addi    s10, s10, -1
1:
    load_column s0, s1, s2, s3
    load_column s4, s5, s6, s7
    even_tile 0
    odd_tile 1
    even_tile 2
    odd_tile 3
    sub     a0, a0, s10
    sub     a1, a1, s10
    sub     a2, a2, s10
    sub     a3, a3, s10
    addi    a4, a4, 128
    addi    s9, s9, -1
    bnez    s9, 1b
    return_all FRAME
    .size   cg_winograd_pixels_s8_rv32, . - cg_winograd_pixels_s8_rv32

    /* The filter \w times four tiles a3 to a6, to four sums, which begin with it where \is_first.
     * Changes ra. */
    .macro  times_filter is_first, w, a, b, c, d
    .if     \is_first
    mul     \a, a3, \w
    mul     \b, a4, \w
    mul     \c, a5, \w
    mul     \d, a6, \w
    .else
    mul     ra, a3, \w
    add     \a, \a, ra
    mul     ra, a4, \w
    add     \b, \b, ra
    mul     ra, a5, \w
    add     \c, \c, ra
    mul     ra, a6, \w
    add     \d, \d, ra
    .endif
    .endm

    /* Channel \k of the image. Filters are loaded a result channel ahead. Changes a3 to a7, s9, ra. */
    .macro  image_channel k, is_first=0
    lh      a7, 8*\k(a1)
    lh      a3, 128*\k(a0)
    lh      a4, 128*\k + 2(a0)
    lh      a5, 128*\k + 4(a0)
    lh      a6, 128*\k + 6(a0)
    lh      s9, 8*\k + 2(a1)
    times_filter \is_first, a7, t0, t1, t2, t3
    lh      a7, 8*\k + 4(a1)
    times_filter \is_first, s9, t4, t5, t6, s0
    lh      s9, 8*\k + 6(a1)
    times_filter \is_first, a7, s1, s2, s3, s4
    times_filter \is_first, s9, s5, s6, s7, s8
    .endm

    /* cg_winograd_products_s8_rv32(pixels, filters, sums, channels) */
    frame   cg_frame_cg_winograd_products_s8_rv32, FRAME
    function cg_winograd_products_s8_rv32
    save_all FRAME
    slli    s10, a3, 7
    mv      s11, s10
    add     s10, s10, a0
    addi    t0, a2, 1024
    sw      t0, F_LEFT(sp)
1:
    image_channel 0, 1
    image_channel 1
    image_channel 2
    image_channel 3
    addi    a0, a0, 512
    addi    a1, a1, 32
    beq     a0, s10, 3f
2:
    image_channel 0
    image_channel 1
    image_channel 2
    image_channel 3
    addi    a0, a0, 512
    addi    a1, a1, 32
    bne     a0, s10, 2b
3:
    .set    at, 0
    .irp    sum, t0, t1, t2, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8
    sw      \sum, at(a2)
    .set    at, at + 4
    .endr
    sub     a0, a0, s11
    addi    a0, a0, 8
    addi    s10, s10, 8
    addi    a2, a2, 64
    lw      t0, F_LEFT(sp)
    bne     a2, t0, 1b
    return_all FRAME
    .size   cg_winograd_products_s8_rv32, . - cg_winograd_products_s8_rv32

    /* Row \a of sums: those of the two columns to \left and \right. Changes t5, t6, ra. */
    .macro  sum_row a, left, right
    lw      \left, 256*\a(a0)
    lw      t5, 256*\a + 64(a0)
    lw      t6, 256*\a + 128(a0)
    lw      ra, 256*\a + 192(a0)
    add     \left, \left, t5
    sub     \right, t5, t6
    add     \left, \left, t6
    sub     \right, \right, ra
    .endm

    /* Results of a column of sums m0 to m3, to \m0 and \m1. s4: bias; s5 to s9 channel and range.
     * Changes t5. */
    .macro  results_of m0, m1, m2, m3
    add     \m1, \m1, s4
    add     \m0, \m0, \m1
    add     \m0, \m0, \m2
    sub     \m1, \m1, \m2
    sub     \m1, \m1, \m3
    requantize any, \m0, s5, s6, s7, s8, s9, t5
    requantize any, \m1, s5, s6, s7, s8, s9, t5
    .endm

    /* cg_winograd_results_s8_rv32(results) */
    frame   cg_frame_cg_winograd_results_s8_rv32, FRAME
    function cg_winograd_results_s8_rv32
    save_all FRAME
    lw      a7, 0(a0)
    lw      a2, 4(a0)
    lw      a5, 8(a0)
    lw      s10, 12(a0)
    lw      s11, 16(a0)
    lw      a3, 20(a0)
    lw      a4, 24(a0)
    lw      s8, 28(a0)
    lw      s9, 32(a0)
    sw      a5, F_OUTPUT(sp)
    addi    a4, a4, -1
    li      a6, 4
1:
    lw      s4, 0(a2)
    lw      s5, 4(a2)
    lw      s6, 8(a2)
    lw      s7, 12(a2)
    lw      a1, F_OUTPUT(sp)
    mv      a0, a7
    mv      a5, a3
2:
    sum_row 0, t0, s0
    sum_row 1, t1, s1
    sum_row 2, t2, s2
    sum_row 3, t3, s3
    results_of t0, t1, t2, t3
    sb      t0, 0(a1)
    add     t4, a1, s11
    beqz    a4, 3f
    sb      t1, 0(t4)
3:  results_of s0, s1, s2, s3
    addi    a5, a5, -1
    beqz    a5, 5f
    add     a1, a1, s10
    sb      s0, 0(a1)
    beqz    a4, 4f
    add     t4, t4, s10
    sb      s1, 0(t4)
4:  add     a1, a1, s10
    addi    a0, a0, 4
    addi    a5, a5, -1
    bnez    a5, 2b
5:  lw      a1, F_OUTPUT(sp)
    addi    a2, a2, 16
    addi    a1, a1, 1
    sw      a1, F_OUTPUT(sp)
    addi    a7, a7, 16
    addi    a6, a6, -1
    bnez    a6, 1b
    return_all FRAME
    .size   cg_winograd_results_s8_rv32, . - cg_winograd_results_s8_rv32
