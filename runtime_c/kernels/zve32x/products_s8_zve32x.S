/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products_s8_zve32x.S -- all channels of six pixels, of three or of one, Zve32x of any length: a
 * value of each pixel times a vector of weights.
 *
 * Why assembly: gcc 12 has no such vectors. A value takes 2 * pixels + 3 instructions a vector.
 */
#include "cg_needs_zve32x.h"
#include "cg_asm_rv32.inc"
#include "cg_requantize_zve32x.inc"

    /* Offsets in cg_windows_zve32x. */
    .set WINDOWS_START, 0
    .set WINDOWS_PIXEL_STEP, 4
    .set WINDOWS_LINES, 8
    .set WINDOWS_LINE_BYTES, 12
    .set WINDOWS_LINE_JUMP, 16

    /* The macro \do for each pixel: where it is, its value, its sums. */
    .macro  pixels_1 do, more:vararg
    \do     t0, a2, v8, \more
    .endm
    /* Does \do for three pixels. */
    .macro  pixels_3 do, more:vararg
    \do     t0, a2, v8, \more
    \do     t1, a3, v16, \more
    \do     t2, a4, v24, \more
    .endm
    /* Does \do for six pixels. */
    .macro  pixels_6 do, more:vararg
    \do     t0, a2, v4, \more
    \do     t1, a3, v8, \more
    \do     t2, a4, v12, \more
    \do     t3, a5, v16, \more
    \do     t4, a6, v20, \more
    \do     t5, a7, v24, \more
    .endm

    /* Sums begin at the biases in v0. */
    .macro  begin at, x, sums
    vmv.v.v \sums, v0
    .endm
    /* Puts the begin of a pixel's window to \at: s11, which moves on by s5. */
    .macro  place at, x, sums
    mv      \at, s11
    add     s11, s11, s5
    .endm
    /* On by s11 bytes. */
    .macro  jump at, x, sums
    add     \at, \at, s11
    .endm
    /* Value \k of a window. */
    .macro  load at, x, sums, k
    lb      \x, \k(\at)
    .endm
    /* Its products with the weights \w. */
    .macro  multiply at, x, sums, w
    vwmacc.vx \sums, \x, \w
    .endm
    /* On by \count values. */
    .macro  move at, x, sums, count
    addi    \at, \at, \count
    .endm
    /* Sums times multipliers in v0, each vector with a copy of them, as v0 is changed. */
    .macro  multiply_all at, x, sums
    vsmul.vv \sums, \sums, v0
    .endm
    /* One less where they are negative. Changes v0. */
    .macro  lower at, x, sums
    vsra.vi v0, \sums, 31
    vadd.vv \sums, \sums, v0
    .endm
    /* To the right by v0, the zero point a2 added. */
    .macro  shift_all at, x, sums
    shift   \sums, v0
    .endm
    /* Sums in 16 bits. */
    .macro  narrow at, x, sums
    vnclip.wi \sums, \sums, 0
    .endm
    /* In 8 bits to s11, which moves on to the next pixel's results. */
    .macro  store_all at, x, sums
    store   \sums, s11
    add     s11, s11, s4
    .endm

    /* Value \k of all pixels. Changes a2 to a7. */
    .macro  value pixels, w, k
    vle8.v  v0, (s7)
    pixels_\pixels load, \k
    add     s7, s7, s4
    vsext.vf2 \w, v0
    pixels_\pixels multiply, \w
    .endm

    /* The function \name(products, windows, output). \quad, \double, \single: registers of vectors
     * of 32, 16 and 8 bits; \w: weights in 16 bits. */
    .macro  products name, pixels, quad, double, single, w
    frame   cg_frame_\name, 64
    function \name
    save_all 64
    mv      s1, a2
    lw      s2, PRODUCTS_WEIGHTS(a0)
    lw      s3, PRODUCTS_CHANNELS(a0)
    lw      s4, PRODUCTS_OUTPUTS(a0)
    mv      s0, s4
    slli    s10, s4, 2
    csrwi   vxrm, 0
1:  vsetvli s6, s0, e32, \quad, ta, ma
    vle32.v v0, (s3)
    pixels_\pixels begin
    vsetvli zero, zero, e16, \double, ta, ma
    mv      s7, s2
    lw      s11, WINDOWS_START(a1)
    lw      s5, WINDOWS_PIXEL_STEP(a1)
    pixels_\pixels place
    lw      s5, WINDOWS_LINES(a1)
2:  lw      s11, WINDOWS_LINE_BYTES(a1)
    add     s9, t0, s11
    andi    s8, s11, -8
    add     s8, s8, t0
    beq     t0, s8, 4f
3:
    .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
    value   \pixels, \w, \k
    .endr
    pixels_\pixels move, 8
    bne     t0, s8, 3b
4:  beq     t0, s9, 6f
5:  value   \pixels, \w, 0
    pixels_\pixels move, 1
    bne     t0, s9, 5b
6:  lw      s11, WINDOWS_LINE_JUMP(a1)
    pixels_\pixels jump
    addi    s5, s5, -1
    bnez    s5, 2b
    vsetvli zero, zero, e32, \quad, ta, ma
    lw      a2, PRODUCTS_ZERO(a0)
    lw      a3, PRODUCTS_MIN(a0)
    lw      a4, PRODUCTS_MAX(a0)
    add     s11, s3, s10
    vle32.v v0, (s11)
    pixels_\pixels multiply_all
    pixels_\pixels lower
    add     s11, s11, s10
    vle32.v v0, (s11)
    pixels_\pixels shift_all
    vsetvli zero, zero, e16, \double, ta, ma
    pixels_\pixels narrow
    vsetvli zero, zero, e8, \single, ta, ma
    mv      s11, s1
    pixels_\pixels store_all
    sub     s0, s0, s6
    add     s1, s1, s6
    add     s2, s2, s6
    slli    s11, s6, 2
    add     s3, s3, s11
    bnez    s0, 1b
    return_all 64
    .size   \name, . - \name
    .endm

    products cg_products6_s8_zve32x, 6, m4, m2, m1, v2
    products cg_products3_s8_zve32x, 3, m8, m4, m2, v4
    products cg_products1_s8_zve32x, 1, m8, m4, m2, v4
