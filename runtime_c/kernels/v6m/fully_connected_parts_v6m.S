@ SPDX-License-Identifier: Apache-2.0
/*
 * fully_connected_parts_v6m.S -- four outputs of a fully connected layer on ARMv6-M: their sums.
 *
 * Why assembly: four sums in the upper registers, where gcc puts none; a value and four weights
 * take 17 instructions.
 */
#include "cg_needs_v6m.h"
#include "cg_asm_v6m.inc"

/* The value at r0 + r2 times the four weights of \word, to r8 to r11. Changes r3, r6. */
    .macro value word
    ldrsb   r3, [r0, r2]
    adds    r2, r2, #1
    sxtb    r6, \word
    muls    r6, r3, r6
    add     r8, r6
    lsls    r6, \word, #16
    asrs    r6, r6, #24
    muls    r6, r3, r6
    add     r9, r6
    lsls    r6, \word, #8
    asrs    r6, r6, #24
    muls    r6, r3, r6
    add     r10, r6
    asrs    \word, \word, #24
    muls    \word, r3, \word
    add     r11, \word
    .endm

/* const int32_t *cg_fc_sums_v6m(const int8_t *input, const int32_t *group, int32_t count, sums) */
    frame   cg_frame_cg_fc_sums_v6m, 4
    function cg_fc_sums_v6m
    push    {r4-r7, lr}
    lower_upper
    push    {r3-r7}                 /* r3, beside what save_all saves: where the sums go */
    ldm     r1!, {r4-r7}
    raise_lower
    mov     lr, r2                  /* all values */
    movs    r7, #3
    movs    r3, r2
    bics    r3, r3, r7
    mov     r12, r3                 /* by fours */
    movs    r2, #0
    b       2f
1:
    ldm     r1!, {r4, r5}
    value   r4
    value   r5
    ldm     r1!, {r4, r5}
    value   r4
    value   r5
2:
    cmp     r2, r12
    bne     1b
    b       4f
3:
    ldm     r1!, {r4}
    value   r4
4:
    cmp     r2, lr
    bne     3b
    pop     {r3}
    lower_upper
    stm     r3!, {r4-r7}
    movs    r0, r1
    return_all
    .size cg_fc_sums_v6m, . - cg_fc_sums_v6m
