@ SPDX-License-Identifier: Apache-2.0
/*
 * pool_taps_s8_mve.S -- sums and maxima of the taps of a window, Helium (contract:
 * cg_kernels_mve.h).
 *
 * Assembly: DLSTP sets the active lanes for all that follows until LCTP, with no LETP in between;
 * a compiler cannot be told. Five instructions for one tap of 4 (sums) or 16 (maxima) channels.
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* r0 grid, r1 first tap, r3 channels; `load` and `reduce` one vector of taps. */
.macro taps size, identity, load, reduce
    push         {r4-r9, lr}
    ldm          r0, {r4-r9} /* step, wrap, ring_bytes, rows, columns, channels */
    dlstp.\size  lr, r3
    mvn          r0, #0x7f
    \identity
1:  cmp          r5, #0
    it           eq
    subeq        r1, r1, r6
    sub          r5, r5, #1
    mov          r0, r1
    mov          r12, r8
2:  \load        q1, [r0]
    add          r0, r0, r9
    \reduce      q0, q0, q1
    subs         r12, r12, #1
    bne          2b
    add          r1, r1, r4
    subs         r7, r7, #1
    bne          1b
.endm

/*
 * void cg_pool_sums_s8_mve(const cg_tap_grid_mve *grid, const int8_t *first, cg_s32 *sums,
 *                          int32_t channels)
 */
    function     cg_pool_sums_s8_mve
    taps         32, "vmov.i32 q0, #0", vldrb.s32, vadd.i32
    vstrw.32     q0, [r2]
    lctp
    pop          {r4-r9, pc}
    .size cg_pool_sums_s8_mve, . - cg_pool_sums_s8_mve

/*
 * void cg_pool_maxima_s8_mve(const cg_tap_grid_mve *grid, const int8_t *first, int8_t *maxima,
 *                            int32_t channels)
 */
    function     cg_pool_maxima_s8_mve
    push         {r0}
    taps         8, "vdup.8 q0, r0", vldrb.s8, vmax.s8
    ldr          r0, [sp, #28]
    ldrd         r4, r5, [r0, #24] /* act_min, act_max */
    vdup.8       q1, r4
    vmax.s8      q0, q0, q1
    vdup.8       q1, r5
    vmin.s8      q0, q0, q1
    vstrb.8      q0, [r2]
    lctp
    pop          {r4-r9, lr}
    add          sp, sp, #4
    bx           lr
    .size cg_pool_maxima_s8_mve, . - cg_pool_maxima_s8_mve
