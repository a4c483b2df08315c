@ SPDX-License-Identifier: Apache-2.0
/*
 * batch_matmul_parts_s8_mve.S -- rows and columns of BATCH_MATMUL laid out, int8, Helium. Contracts
 * and structs: cg_matmul_mve_parts.h.
 *
 * Assembly, because gcc 12 makes no tail-predicated loops (DLSTP/LETP).
 */
#include "cg_needs_mve.h"
#include "cg_asm.inc"

/* void cg_matmul_lines_s8_mve(side, from, terms, count, to) */
    function     cg_matmul_lines_s8_mve
    ldr          r12, [sp]
    push         {r4-r11, lr}
    ldm          r0, {r5-r9}               /* apart, next, depth, zero, term */
    cmp          r6, #1
    beq          .Lcontiguous
    movs         r0, #0
    vidup.u16    q1, r0, #1
    vmul.i16     q1, q1, r6
    lsls         r6, r6, #3
    mov          r0, r12
    rsb          r11, r7, #0
    and          r11, r11, #7
.Lapart:
    mov          r10, r1
    movs         r4, #0
    dlstp.16     lr, r7
1:  vldrb.s16    q0, [r10, q1]
    add          r10, r10, r6
    vaddva.s16   r4, q0
    vstrb.16     q0, [r0], #8
    letp         lr, 1b
    subs         r0, r0, r11               /* behind the last factor */
    mla          r4, r4, r8, r9
    str          r4, [r2], #4
    add          r1, r1, r5
    subs         r3, r3, #1
    bne          .Lapart
    pop          {r4-r11, pc}
.Lcontiguous:
    mov          r10, r1
    movs         r4, #0
    dlstp.8      lr, r7
1:  vldrb.8      q0, [r10], #16
    vaddva.s8    r4, q0
    letp         lr, 1b
    mla          r4, r4, r8, r9
    str          r4, [r2], #4
    add          r1, r1, r5
    subs         r3, r3, #1
    bne          .Lcontiguous
    pop          {r4-r11, pc}
    .size cg_matmul_lines_s8_mve, . - cg_matmul_lines_s8_mve
