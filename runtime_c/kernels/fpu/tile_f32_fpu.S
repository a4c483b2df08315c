@ SPDX-License-Identifier: Apache-2.0
/*
 * tile_f32_fpu.S -- the inner loops of float32 convolutions on cores with a single precision FPU:
 * four or one pixels by four channels or one, straight from the image.
 */
#include "cg_needs_fpu.h"

/* Eight weights, of two values for four channels, from r1, which moves on, to s0-s7. */
    .macro weights8
    vldmia  r1!, {s0-s7}
    .endm

/* Four weights, of one value for four channels, from r1 to s0-s3. */
    .macro weights4
    vldmia  r1!, {s0-s3}
    .endm

/* Four weights of one channel from r1 to s0-s3. */
    .macro channel4
    vldmia  r1!, {s0-s3}
    .endm

/* One weight of one channel from r1 to s0. */
    .macro channel1
    vldmia  r1!, {s0}
    .endm

/* The bias of one channel from r1 to s0. */
    .macro bias1
    vldmia  r1!, {s0}
    .endm

#include "cg_tile_f32_fpu.inc"

/* Functions that `products` defines, named here for the tool that gathers a folder's kernels. */
    .global cg_conv4_f32_fpu, cg_conv1_f32_fpu, cg_single4_f32_fpu, cg_single1_f32_fpu
    products f32

/* a0..a3 += s8..s11 * s0..s3 */
    .macro dw4 a0, a1, a2, a3
    vmul.f32 s12, s8, s0
    vmul.f32 s13, s9, s1
    vmul.f32 s14, s10, s2
    vmul.f32 s15, s11, s3
    vadd.f32 \a0, \a0, s12
    vadd.f32 \a1, \a1, s13
    vadd.f32 \a2, \a2, s14
    vadd.f32 \a3, \a3, s15
    .endm

/*
 * void cg_dw4_f32_fpu(...): each channel by weights of its own; x moves on with the channels. A run
 * is the taps of a row, X_GAP from tap to tap; RUNS plays no part. Of the four channels of a block
 * all taps are read before a result is written.
 */
    tile    cg_dw4_f32_fpu
1:
    lead
    pixels4 lr
    clear16
    rows_of_taps
2:
    ldr     r8, [r0, #RUN_LEN]
4:
    vldmia  r1!, {s0-s3}
    vldmia  r4, {s8-s11}
    dw4     s16, s17, s18, s19
    vldmia  r5, {s8-s11}
    dw4     s20, s21, s22, s23
    vldmia  r6, {s8-s11}
    dw4     s24, s25, s26, s27
    vldmia  r7, {s8-s11}
    dw4     s28, s29, s30, s31
    step4   r11
    subs    r8, r8, #1
    bne     4b
    finish_row step4, lr
7:
    finish16
    finish_channels cg_dw4_f32_fpu, step4, lr

    tile    cg_dw1_f32_fpu
1:
    lead
    mov     r4, r2
    clear4
    rows_of_taps
2:
    ldr     r8, [r0, #RUN_LEN]
4:
    vldmia  r1!, {s0-s3}
    vldmia  r4, {s8-s11}
    add     r4, r4, r11
    dw4     s16, s17, s18, s19
    subs    r8, r8, #1
    bne     4b
    finish_row step1, lr
7:
    finish4
    finish_channels cg_dw1_f32_fpu, step1, lr
