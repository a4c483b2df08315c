/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise3x3_rows_s8_zve32x.S -- a row of results of a depthwise 3x3 convolution from three rows
 * of the image with their padding, Zve32x of any length.
 *
 * Why assembly: gcc 12 has no such vectors. The products of two taps are added in 16 bits. A
 * result takes 70 instructions a vector.
 */
#include "cg_needs_zve32x.h"
#include "cg_asm_rv32.inc"
#include "cg_requantize_zve32x.inc"

    /* Offsets in cg_depthwise_rows_zve32x. */
    .set ROWS_RESULTS, 12
    .set ROWS_STEP, 16
    .set ROWS_FIRST, 20
    .set ROWS_CHANNELS, 24

    /* Column 0 of the row at \at to \x. */
    .macro  column_0 at, x
    vle8.v  \x, (\at)
    .endm
    /* Column 1. Changes t5. */
    .macro  column_1 at, x
    add     t5, \at, a5
    vle8.v  \x, (t5)
    .endm
    /* Column 2. Changes t5. */
    .macro  column_2 at, x
    add     t5, \at, a6
    vle8.v  \x, (t5)
    .endm

    /* Taps in v10 and v11 times weights \v and \w, added to \sums, the result of which is v12. */
    .macro  add_two v, w, sums
    vwmul.vv v16, v10, \v
    vwmacc.vv v16, v11, \w
    vsetvli zero, zero, e16, m2, ta, ma
    vwadd.wv v12, \sums, v16
    vsetvli zero, zero, e8, m1, ta, ma
    .endm

    /* cg_depthwise3x3_rows_s8_zve32x(products, rows, output) */
    frame   cg_frame_cg_depthwise3x3_rows_s8_zve32x, 64
    function cg_depthwise3x3_rows_s8_zve32x
    save_all 64
    mv      s5, a2
    lw      s0, 0(a1)
    lw      s1, 4(a1)
    lw      s10, 8(a1)
    lw      s8, ROWS_STEP(a1)
    lw      s4, PRODUCTS_WEIGHTS(a0)
    lw      s6, PRODUCTS_CHANNELS(a0)
    lw      s2, PRODUCTS_OUTPUTS(a0)
    lw      a2, PRODUCTS_ZERO(a0)
    lw      a3, PRODUCTS_MIN(a0)
    lw      a4, PRODUCTS_MAX(a0)
    lw      s3, ROWS_CHANNELS(a1)
    lw      t0, ROWS_FIRST(a1)
    slli    s7, s2, 2
    add     s4, s4, t0
    slli    t0, t0, 2
    add     s6, s6, t0
    mv      a5, s3
    slli    a6, s3, 1
    csrwi   vxrm, 0
1:  vsetvli s9, s3, e32, m4, ta, ma
    mv      t0, s6
    vle32.v v20, (t0)
    add     t0, t0, s7
    vle32.v v24, (t0)
    add     t0, t0, s7
    vle32.v v28, (t0)
    vsetvli zero, zero, e8, m1, ta, ma
    mv      t0, s4
    .irp    w, v1, v2, v3, v4, v5, v6, v7, v8, v9
    vle8.v  \w, (t0)
    add     t0, t0, s2
    .endr
    mv      t0, s0
    mv      t1, s1
    mv      t2, s10
    mv      t3, s5
    lw      t4, ROWS_RESULTS(a1)
2:  column_0 t0, v10
    column_1 t0, v11
    add_two v1, v2, v20
    column_2 t0, v10
    column_0 t1, v11
    add_two v3, v4, v12
    column_1 t1, v10
    column_2 t1, v11
    add_two v5, v6, v12
    column_0 t2, v10
    column_1 t2, v11
    add_two v7, v8, v12
    column_2 t2, v10
    vwmul.vv v16, v10, v9
    vsetvli zero, zero, e16, m2, ta, ma
    vwadd.wv v12, v12, v16
    vsetvli zero, zero, e32, m4, ta, ma
    scale   v12, v24, v16
    shift   v12, v28
    vsetvli zero, zero, e16, m2, ta, ma
    vnclip.wi v16, v12, 0
    vsetvli zero, zero, e8, m1, ta, ma
    store   v16, t3
    add     t0, t0, s8
    add     t1, t1, s8
    add     t2, t2, s8
    add     t3, t3, s2
    addi    t4, t4, -1
    bnez    t4, 2b
    sub     s3, s3, s9
    add     s0, s0, s9
    add     s1, s1, s9
    add     s10, s10, s9
    add     s4, s4, s9
    add     s5, s5, s9
    slli    t0, s9, 2
    add     s6, s6, t0
    bnez    s3, 1b
    return_all 64
    .size   cg_depthwise3x3_rows_s8_zve32x, . - cg_depthwise3x3_rows_s8_zve32x
