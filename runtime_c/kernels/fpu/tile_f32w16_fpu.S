@ SPDX-License-Identifier: Apache-2.0
/*
 * tile_f32w16_fpu.S -- the inner loops of float32 convolutions by float16 weights on cores with a
 * single precision FPU, each weight widened as it is read.
 */
#include "cg_needs_fpu.h"

/* \low and \high from the two halves of \both, which may be \high. */
    .macro widen low, high, both
    vcvtb.f32.f16 \low, \both
    vcvtt.f32.f16 \high, \both
    .endm

/* One weight of one channel, which may lie at any even address, from r1 to \to. Changes r11. */
    .macro half to
    ldrh    r11, [r1], #2
    vmov    \to, r11
    vcvtb.f32.f16 \to, \to
    .endm

/* Eight weights, of two values for four channels, from r1, which moves on, to s0-s7. */
    .macro weights8
    vldmia  r1!, {s4-s7}
    widen   s0, s1, s4
    widen   s2, s3, s5
    widen   s4, s5, s6
    widen   s6, s7, s7
    .endm

/* Four weights, of one value for four channels, from r1 to s0-s3. */
    .macro weights4
    vldmia  r1!, {s2-s3}
    widen   s0, s1, s2
    widen   s2, s3, s3
    .endm

/* Four weights of one channel from r1 to s0-s3. Changes r11. */
    .macro channel4
    half    s0
    half    s1
    half    s2
    half    s3
    .endm

/* One weight of one channel from r1 to s0. Changes r11. */
    .macro channel1
    half    s0
    .endm

/* The bias of one channel, which lies at the next word behind r1, to s0. Changes the flags. */
    .macro bias1
    adds    r1, r1, #2
    bic     r1, r1, #3
    vldmia  r1!, {s0}
    .endm

#include "cg_tile_f32_fpu.inc"

/* Functions that `products` defines, named here for the tool that gathers a folder's kernels. */
    .global cg_conv4_f32w16_fpu, cg_conv1_f32w16_fpu, cg_single4_f32w16_fpu, cg_single1_f32w16_fpu
    products f32w16
