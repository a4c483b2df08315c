@ SPDX-License-Identifier: Apache-2.0
/*
 * pair_s8_v6m.S -- brings bytes of four pixels, or two, into the halves of words (see
 * cg_conv_v6m_parts.h), from anywhere.
 *
 * Why assembly: four pointers, one index for all of them, and nothing spilled.
 */
#include "cg_needs_v6m.h"
#include "cg_asm.inc"

/* The bytes at \first and \second, index r7, as a pair to r1. Changes r0, r2. */
    .macro pair first, second
    ldrsb   r0, [\first, r7]
    ldrsb   r2, [\second, r7]
    lsls    r2, r2, #16
    adds    r0, r0, r2
    stm     r1!, {r0}
    .endm

/* A function: r12 bytes of each source, r7 is how many are done. */
    .macro begin name
    frame   cg_frame_\name, 0, 20
    function \name
    push    {r4-r7, lr}
    mov     r12, r2
    movs    r7, #0
    .endm

/* Leaves if all r12 bytes are done. */
    .macro end name
    adds    r7, r7, #1
    cmp     r7, r12
    bne     1b
    pop     {r4-r7, pc}
    .size \name, . - \name
    .endm

/* void cg_pair4_s8_v6m(const int8_t *const sources[4], int32_t *pixels, int32_t count) */
    begin   cg_pair4_s8_v6m
    ldm     r0!, {r3-r6}
1:
    pair    r3, r4
    pair    r5, r6
    end     cg_pair4_s8_v6m

/* void cg_pair2_s8_v6m(const int8_t *const sources[2], int32_t *pixels, int32_t count) */
    begin   cg_pair2_s8_v6m
    ldm     r0!, {r3-r4}
1:
    pair    r3, r4
    end     cg_pair2_s8_v6m
