/*
 * product_s8_mve.S -- int8 matrix product with requantisation, Helium (contract: cg_kernels_mve.h).
 *
 * Assembly, because gcc 12 makes no tail-predicated loops (DLSTP/LETP) and does not keep six sums
 * in the even registers that VMLADAVA demands.
 *
 * Three pixels x two channels: 5 loads, 6 VMLADAVA and LETP for 96 products, 0.125 instructions
 * each. Sums of 16 channels are kept on the stack, then requantised four at a time:
 *   h = VQRDMULH(sum, multiplier)          round(sum * multiplier / 2^31), halves up
 *   h = h + (h >> 31); VRSHL(h, shift)     VRSHL rounds halves up; one less where h is negative
 *                                          makes that "away from zero", for shifts of -1 and below
 * rounding CLAMPED leaves the correction out: results below the zero point are clamped to it or
 * above anyway; WIDE shifts to the left before (VSHL), and corrects only lanes that go right.
 * The instruction model is in codegen/kernels/mve/product.py.
 */
    .syntax unified
    .thumb
    .text

/* cg_product_mve */
#define WEIGHT     0
#define MULTIPLIER 4
#define CHANNELS   12
#define DEPTH      16
#define CHUNK_STEP 20
#define OUT_ZERO   24
#define ACT_MIN    28
#define ROUNDING   36

/* cg_group_mve */
#define COUNT       24
#define STEPS       28 /* of patches and outputs */

/* The frame. A chunk is 16 channels. */
#define PATCH0      0
#define PATCH2      8
#define SKIP        12 /* from behind the last weights loaded to the next group */
#define GROUPS_END  16 /* where the sums of the chunk's whole groups end */
#define MULTIPLIERS 20 /* and shifts */
#define LEFT        28 /* channels left */
#define OUTPUT0     32
#define OUTPUT2     40
#define PRODUCT     44
#define GROUP       48
#define GROUPS      52 /* left */
#define SUMS        56 /* int32 [3][16] or [1][16] */
#define SUMS_ROW    64
#define FRAME3      (SUMS + (3 * SUMS_ROW))
#define FRAME1      (SUMS + SUMS_ROW)

/* To the first channel of product r0; changes r4 to r6. r7 = weights. */
.macro rewind
    ldrd         r4, r5, [r0, #MULTIPLIER]
    ldr          r6, [r0, #CHANNELS]
    ldr          r7, [r0, #WEIGHT]
    strd         r4, r5, [sp, #MULTIPLIERS]
    str          r6, [sp, #LEFT]
.endm

/* The frame filled, r0 is the product; changes r4 to r6. r12 = depth, r7 = weights. */
.macro prepare
    ldr          r12, [r0, #DEPTH]
    str          r0, [sp, #PRODUCT]
    rewind
    ldrd         r4, r5, [r0, #ACT_MIN]
    vdup.32      q4, r4
    vdup.32      q5, r5
.endm

/* SKIP of groups of `copies` (2 or 4) times the depth, filled up to words; changes r4, r5. */
.macro prepare_skip copies
    add          r4, r12, #15
    bic          r4, r4, #15
.if \copies == 2
    rsb          r5, r12, #0
    lsl          r5, r5, #1
    and          r5, r5, #3
    add          r5, r5, r12
.else
    mov          r5, r12
.endif
    sub          r5, r5, r4
    str          r5, [sp, #SKIP]
.endm

/* r11: sums. GROUPS_END for groups of `tile` channels in the next chunk; flags of r11 - GROUPS_END. */
.macro begin_chunk tile
    ldr          r5, [sp, #LEFT]
    add          r11, sp, #SUMS
    cmp          r5, #16
    it           hi
    movhi        r5, #16
    bic          r5, r5, #(\tile - 1)
    add          r5, r11, r5, lsl #2
    str          r5, [sp, #GROUPS_END]
    cmp          r11, r5
.endm

/*
 * Before requantising: r5 channels, r1 multipliers, r3 shifts, r11 sums, r6 zero point; flags of
 * the rounding - 1. MULTIPLIERS is set for the chunk behind. Changes r8-r10.
 */
.macro begin_requantise
    ldr          r9, [sp, #PRODUCT]
    ldr          r5, [sp, #LEFT]
    ldrd         r10, r6, [r9, #CHUNK_STEP]
    ldr          r9, [r9, #ROUNDING]
    cmp          r5, #16
    it           hi
    movhi        r5, #16
    ldrd         r1, r3, [sp, #MULTIPLIERS]
    add          r8, r1, r10, lsl #2
    add          r10, r10, r3
    strd         r8, r10, [sp, #MULTIPLIERS]
    add          r11, sp, #SUMS
    cmp          r9, #1
.endm

.macro load_clamped
    vldrw.u32    q0, [r1], #16
    vldrb.s32    q1, [r3], #4
.endm

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

/* Sums q2 -> results q2. */
.macro clamped
    vqrdmulh.s32 q2, q2, q0
    vrshl.s32    q2, q2, q1
    vadd.i32     q2, q2, r6
    vmax.s32     q2, q2, q4
    vmin.s32     q2, q2, q5
.endm

.macro narrow
    vqrdmulh.s32 q2, q2, q0
    vshr.s32     q3, q2, #31
    vadd.i32     q2, q2, q3
    vrshl.s32    q2, q2, q1
    vadd.i32     q2, q2, r6
    vmax.s32     q2, q2, q4
    vmin.s32     q2, q2, q5
.endm

.macro wide
    vshl.s32     q2, q2, q6
    vqrdmulh.s32 q2, q2, q0
    vand         q3, q2, q1
    vshr.s32     q3, q3, #31
    vadd.i32     q2, q2, q3
    vrshl.s32    q2, q2, q1
    vadd.i32     q2, q2, r6
    vmax.s32     q2, q2, q4
    vmin.s32     q2, q2, q5
.endm

/* The loop over r5 channels of a chunk; `kind` is clamped, narrow or wide. */
.macro requantise3 kind
    dlstp.32     lr, r5
1:  load_\kind
    vldrw.u32    q2, [r11], #16
    \kind
    vstrb.32     q2, [r0], #4
    vldrw.u32    q2, [r11, #(SUMS_ROW - 16)]
    \kind
    vstrb.32     q2, [r2], #4
    vldrw.u32    q2, [r11, #((2 * SUMS_ROW) - 16)]
    \kind
    vstrb.32     q2, [r4], #4
    letp         lr, 1b
.endm

.macro requantise1 kind
    dlstp.32     lr, r5
1:  load_\kind
    vldrw.u32    q2, [r11], #16
    \kind
    vstrb.32     q2, [r0], #4
    letp         lr, 1b
.endm

/* Patches r1 r3 r5, sums r0 r4 r8 of one channel and r2 r6 r10 of the other. */
.macro begin_pair
    ldm          sp, {r1, r3, r5} /* PATCH0 to PATCH2 */
    ldrd         r0, r2, [r7], #8
    mov          r4, r0
    mov          r6, r2
    mov          r8, r0
    mov          r10, r2
.endm

/* The weights of the second channel are at `second`. */
.macro multiply_pair second
    vldrb.8      q0, [r1], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q3, [r7], #16
    vldrb.8      q2, [r5], #16
    vmladava.s8  r0, q0, q3
    vmladava.s8  r4, q1, q3
    vmladava.s8  r8, q2, q3
    vldrb.8      q3, [\second], #16
    vmladava.s8  r2, q0, q3
    vmladava.s8  r6, q1, q3
    vmladava.s8  r10, q2, q3
.endm

.macro end_pair
    strd         r0, r2, [r11], #8
    strd         r4, r6, [r11, #(SUMS_ROW - 8)]
    strd         r8, r10, [r11, #((2 * SUMS_ROW) - 8)]
.endm

/* void cg_product3_s8_mve(const cg_product_mve *product, const cg_group_mve *pixels) */
    .p2align 2
    .global cg_product3_s8_mve
    .type cg_product3_s8_mve, %function
cg_product3_s8_mve:
    push         {r4-r11, lr}
    vpush        {d8-d13}
    sub          sp, sp, #FRAME3
    ldr          r2, [r1, #COUNT]
    strd         r1, r2, [sp, #GROUP]
    ldm          r1, {r1-r6}
    strd         r1, r2, [sp, #PATCH0]
    str          r3, [sp, #PATCH2]
    strd         r4, r5, [sp, #OUTPUT0]
    str          r6, [sp, #OUTPUT2]
    prepare
    prepare_skip 2
.Lchunk3:
    begin_chunk  2
    beq          .Lodd3
    lsls         r3, r12, #28
    beq          .Lwoven3
.Lpair3:
    begin_pair
    add          r9, r7, r12
    dlstp.8      lr, r12
1:  multiply_pair r9
    letp         lr, 1b
    end_pair
    ldrd         r1, r3, [sp, #SKIP] /* and GROUPS_END */
    add          r7, r9, r1
    cmp          r11, r3
    blo          .Lpair3
    b            .Lodd3
.Lwoven3: /* r5 is GROUPS_END */
    mov          r9, r5
2:  begin_pair
    dlstp.8      lr, r12
1:  multiply_pair r7
    letp         lr, 1b
    end_pair
    cmp          r11, r9
    blo          2b
.Lodd3:
    ldr          r5, [sp, #LEFT]
    cmp          r5, #16
    bhs          .Lrequantise3
    lsls         r5, r5, #31
    beq          .Lrequantise3
    ldm          sp, {r1, r3, r5} /* PATCH0 to PATCH2 */
    ldr          r0, [r7], #4
    mov          r4, r0
    mov          r8, r0
    dlstp.8      lr, r12
1:  vldrb.8      q0, [r1], #16
    vldrb.8      q3, [r7], #16
    vldrb.8      q1, [r3], #16
    vldrb.8      q2, [r5], #16
    vmladava.s8  r0, q0, q3
    vmladava.s8  r4, q1, q3
    vmladava.s8  r8, q2, q3
    letp         lr, 1b
    str          r0, [r11]
    str          r4, [r11, #SUMS_ROW]
    str          r8, [r11, #(2 * SUMS_ROW)]
.Lrequantise3:
    begin_requantise
    ldrd         r0, r2, [sp, #OUTPUT0]
    ldr          r4, [sp, #OUTPUT2]
    bgt          .Lwide3
    beq          .Lnarrow3
    requantise3  clamped
.Lstored3:
    strd         r0, r2, [sp, #OUTPUT0]
    str          r4, [sp, #OUTPUT2]
    ldr          r5, [sp, #LEFT]
    subs         r5, r5, #16
    str          r5, [sp, #LEFT]
    bgt          .Lchunk3
    ldrd         r9, r10, [sp, #GROUP]
    subs         r10, r10, #1
    beq          .Lleave3
    str          r10, [sp, #GROUPS]
    ldrd         r9, r11, [r9, #STEPS]
    ldm          sp, {r1, r3, r5}
    add          r1, r1, r9
    add          r3, r3, r9
    add          r5, r5, r9
    stm          sp, {r1, r3, r5}
    add          r0, r0, r11
    add          r2, r2, r11
    add          r4, r4, r11
    strd         r0, r2, [sp, #OUTPUT0]
    str          r4, [sp, #OUTPUT2]
    ldr          r0, [sp, #PRODUCT]
    rewind
    b            .Lchunk3
.Lleave3:
    add          sp, sp, #FRAME3
    vpop         {d8-d13}
    pop          {r4-r11, pc}
.Lnarrow3:
    requantise3  narrow
    b            .Lstored3
.Lwide3:
    requantise3  wide
    b            .Lstored3
    .size cg_product3_s8_mve, . - cg_product3_s8_mve

/* void cg_product1_s8_mve(const cg_product_mve *product, const int8_t *patch, int8_t *output) */
    .p2align 2
    .global cg_product1_s8_mve
    .type cg_product1_s8_mve, %function
cg_product1_s8_mve:
    push         {r4-r11, lr}
    vpush        {d8-d13}
    sub          sp, sp, #FRAME1
    str          r1, [sp, #PATCH0]
    str          r2, [sp, #OUTPUT0]
    prepare
    mov          r3, r7
    prepare_skip 4
.Lchunk1:
    begin_chunk  4
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
    bhs          .Lrequantise1
    ands         r10, r10, #3
    beq          .Lrequantise1
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
.Lrequantise1:
    mov          r7, r3
    begin_requantise
    ldr          r0, [sp, #OUTPUT0]
    bgt          .Lwide1
    beq          .Lnarrow1
    requantise1  clamped
.Lstored1:
    mov          r3, r7
    str          r0, [sp, #OUTPUT0]
    ldr          r5, [sp, #LEFT]
    subs         r5, r5, #16
    str          r5, [sp, #LEFT]
    bgt          .Lchunk1
    add          sp, sp, #FRAME1
    vpop         {d8-d13}
    pop          {r4-r11, pc}
.Lnarrow1:
    requantise1  narrow
    b            .Lstored1
.Lwide1:
    requantise1  wide
    b            .Lstored1
    .size cg_product1_s8_mve, . - cg_product1_s8_mve
