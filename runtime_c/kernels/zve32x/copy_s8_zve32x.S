/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_s8_zve32x.S -- copies bytes, Zve32x of any length.
 *
 * Why assembly: gcc 12 has no such vectors.
 */
#include "cg_needs_zve32x.h"
#include "cg_asm_rv32.inc"

    /* cg_copy_s8_zve32x(to, from, count) */
    frame   cg_frame_cg_copy_s8_zve32x, 0
    function cg_copy_s8_zve32x
1:  vsetvli t0, a2, e8, m8, ta, ma
    vle8.v  v0, (a1)
    sub     a2, a2, t0
    add     a1, a1, t0
    vse8.v  v0, (a0)
    add     a0, a0, t0
    bnez    a2, 1b
    ret
    .size   cg_copy_s8_zve32x, . - cg_copy_s8_zve32x
