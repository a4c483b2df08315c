@ SPDX-License-Identifier: Apache-2.0
/*
 * product1_s8_mve.S -- int8 matrix product of one pixel with requantization, Helium (contract:
 * cg_kernels_mve.h).
 *
 * Assembly, because gcc 12 makes no tail-predicated loops (DLSTP/LETP) and does not keep sums in
 * the even registers that VMLADAVA demands. Sums of 16 channels are kept on the stack, then
 * requantized four at a time. The instruction model is in codegen/kernels/mve/price.py.
 */
#include "cg_asm.inc"
    .text

#define OFFSET     r6
#define LOW        q4
#define HIGH       q5
#include "cg_requantize_mve.inc"

/* The frame. A chunk is 16 channels. */
#define PATCH0     0
#define OUTPUT0    4
#define SKIP       8  /* from behind the last weights loaded to the next group */
#define GROUPS_END 12 /* where the sums of the chunk's whole groups end */
#define SCALES     16 /* and channels left */
#define LEFT       20
#define PRODUCT    24
#define SUMS       28 /* int32 [16] */
#define FRAME      (SUMS + 64)

/* The frame filled, r0 is the product; changes r4 to r6. r12 = depth, r7 = weights. */
.macro prepare
    ldrd         r7, r5, [r0, #WEIGHT] /* and scale */
    ldrd         r6, r12, [r0, #CHANNELS]
    str          r0, [sp, #PRODUCT]
    strd         r5, r6, [sp, #SCALES]
    ldrd         r4, r5, [r0, #ACT_MIN]
    vdup.32      q4, r4
    vdup.32      q5, r5
.endm

/* Changes r4, r5. Groups of four are whole words whatever the depth. */
.macro prepare_skip
    add          r4, r12, #15
    bic          r4, r4, #15
    sub          r5, r12, r4
    str          r5, [sp, #SKIP]
.endm

/* r11: sums. GROUPS_END for groups of four channels in the next chunk; flags of r11 - GROUPS_END. */
.macro begin_chunk
    ldr          r5, [sp, #LEFT]
    add          r11, sp, #SUMS
    cmp          r5, #16
    it           hi
    movhi        r5, #16
    bic          r5, r5, #3
    add          r5, r11, r5, lsl #2
    str          r5, [sp, #GROUPS_END]
    cmp          r11, r5
.endm

/*
 * Before requantizing: r5 channels, r1 scales, r11 sums, r6 zero point; flags of the rounding - 1.
 * SCALES is set for the chunk behind. Changes r8-r10.
 */
.macro begin_requantize
    ldr          r9, [sp, #PRODUCT]
    ldrd         r1, r5, [sp, #SCALES] /* and LEFT */
    ldrd         r10, r6, [r9, #SCALE_STEP]
    ldr          r9, [r9, #ROUNDING]
    cmp          r5, #16
    it           hi
    movhi        r5, #16
    add          r8, r1, r10, lsl #2
    str          r8, [sp, #SCALES]
    add          r11, sp, #SUMS
    cmp          r9, #1
.endm

/* Four channels' multipliers to q0, shifts to q1, by the kind of rounding. */
.macro load_clamped
    vldrw.u32    q0, [r1], #16
    vldrb.s32    q1, [r1], #4
.endm

/* The same. */
.macro load_narrow
    load_clamped
.endm

/* q1: shift to the right (negative or 0), q6: to the left. */
.macro load_wide
    load_clamped
    vmov.i32     q3, #0
    vmax.s32     q6, q1, q3
    vmin.s32     q1, q1, q3
.endm

/* Shifts to the left before the multiplication: none. */
.macro shift_clamped
.endm

/* None. */
.macro shift_narrow
.endm

/* Those of load_wide, of the sums q2. */
.macro shift_wide
    vshl.s32     q2, q2, q6
.endm

/* The loop over r5 channels of a chunk; `kind` is clamped, narrow or wide. */
.macro requantize1 kind
    dlstp.32     lr, r5
1:  load_\kind
    vldrw.u32    q2, [r11], #16
    shift_\kind
    \kind        q2
    vstrb.32     q2, [r0], #4
    letp         lr, 1b
.endm

/* void cg_product1_s8_mve(const cg_product_mve *product, const int8_t *patch, int8_t *output) */
    .balign 4
    entry        cg_product1_s8_mve
    push         {r4-r11, lr}
    vpush        {d8-d13}
    sub          sp, sp, #FRAME
    str          r1, [sp, #PATCH0]
    str          r2, [sp, #OUTPUT0]
    prepare
    mov          r3, r7
    prepare_skip
.Lchunk1:
    begin_chunk
    beq          .Lodd1
.Lquad1:
    ldr          r1, [sp, #PATCH0]
    ldm          r3!, {r0, r2, r4, r6}
    add          r5, r3, r12
    add          r7, r5, r12
    add          r9, r7, r12
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q2, [r5], #16
    vmladava.s8  r0, q0, q1
    vldrb.8      q1, [r7], #16
    vmladava.s8  r2, q0, q2
    vldrb.8      q2, [r9], #16
    vmladava.s8  r4, q0, q1
    vmladava.s8  r6, q0, q2
    letp         lr, 1b
    strd         r0, r2, [r11], #8
    strd         r4, r6, [r11], #8
    ldrd         r8, r10, [sp, #SKIP] /* and GROUPS_END */
    add          r3, r9, r8
    cmp          r11, r10
    blo          .Lquad1
.Lodd1:
    ldr          r10, [sp, #LEFT]
    cmp          r10, #16
    bhs          .Lrequantize1
    ands         r10, r10, #3
    beq          .Lrequantize1
.Lone1:
    ldr          r1, [sp, #PATCH0]
    ldr          r0, [r3], #4
    mov          r5, r3
    add          r3, r3, r12
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q1, [r5], #16
    vmladava.s8  r0, q0, q1
    letp         lr, 1b
    str          r0, [r11], #4
    add          r3, r3, #3
    bic          r3, r3, #3
    subs         r10, r10, #1
    bne          .Lone1
.Lrequantize1:
    mov          r7, r3
    begin_requantize
    ldr          r0, [sp, #OUTPUT0]
    bgt          .Lwide1
    beq          .Lnarrow1
    requantize1  clamped
.Lstored1:
    mov          r3, r7
    str          r0, [sp, #OUTPUT0]
    ldr          r5, [sp, #LEFT]
    subs         r5, r5, #16
    str          r5, [sp, #LEFT]
    bgt          .Lchunk1
    add          sp, sp, #FRAME
    vpop         {d8-d13}
    pop          {r4-r11, pc}
.Lnarrow1:
    requantize1  narrow
    b            .Lstored1
.Lwide1:
    requantize1  wide
    b            .Lstored1
    .size cg_product1_s8_mve, . - cg_product1_s8_mve
