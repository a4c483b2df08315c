# SPDX-License-Identifier: Apache-2.0
# memory.S -- memcpy and memset by words, in place of a C library's by bytes.
    .macro function name
    .section .text.\name, "ax", @progbits
    .balign 4
    .globl  \name
    .type   \name, @function
\name:
    .endm

    # a0: to, which is returned; a1: from; a2: bytes. Changes temporaries.
    function memcpy
    mv      t0, a0
    li      t1, 12
    bltu    a2, t1, 4f
    xor     t1, a0, a1
    andi    t1, t1, 3
    bnez    t1, 3f
1:  andi    t1, t0, 3           # bytes up to the first word
    beqz    t1, 2f
    lbu     t2, 0(a1)
    sb      t2, 0(t0)
    addi    a1, a1, 1
    addi    t0, t0, 1
    addi    a2, a2, -1
    j       1b
2:  li      t1, 16
    bltu    a2, t1, 5f
    andi    t1, a2, -16
    add     t1, t1, t0          # end of the loop by four words
    andi    a2, a2, 15
6:  lw      t2, 0(a1)
    lw      t3, 4(a1)
    lw      t4, 8(a1)
    lw      t5, 12(a1)
    addi    a1, a1, 16
    sw      t2, 0(t0)
    sw      t3, 4(t0)
    sw      t4, 8(t0)
    sw      t5, 12(t0)
    addi    t0, t0, 16
    bne     t0, t1, 6b
5:  li      t1, 4               # single words
    bltu    a2, t1, 4f
    lw      t2, 0(a1)
    sw      t2, 0(t0)
    addi    a1, a1, 4
    addi    t0, t0, 4
    addi    a2, a2, -4
    j       5b
3:  andi    t1, a2, -4          # words that lie apart: bytes by fours
    add     t1, t1, t0
    andi    a2, a2, 3
7:  lbu     t2, 0(a1)
    lbu     t3, 1(a1)
    lbu     t4, 2(a1)
    lbu     t5, 3(a1)
    addi    a1, a1, 4
    sb      t2, 0(t0)
    sb      t3, 1(t0)
    sb      t4, 2(t0)
    sb      t5, 3(t0)
    addi    t0, t0, 4
    bne     t0, t1, 7b
4:  beqz    a2, 9f
    add     t1, t0, a2
8:  lbu     t2, 0(a1)
    sb      t2, 0(t0)
    addi    a1, a1, 1
    addi    t0, t0, 1
    bne     t0, t1, 8b
9:  ret
    .size   memcpy, . - memcpy

    # a0: to, which is returned; a1: the byte; a2: bytes. Changes temporaries.
    function memset
    mv      t0, a0
    add     t3, a0, a2          # end
    li      t1, 8
    bltu    a2, t1, 4f
    andi    a1, a1, 255
    slli    t1, a1, 8
    or      a1, a1, t1
    slli    t1, a1, 16
    or      a1, a1, t1
1:  andi    t1, t0, 3           # bytes up to the first word
    beqz    t1, 2f
    sb      a1, 0(t0)
    addi    t0, t0, 1
    j       1b
2:  sub     t1, t3, t0
    andi    t1, t1, -4
    add     t1, t1, t0
3:  sw      a1, 0(t0)
    addi    t0, t0, 4
    bne     t0, t1, 3b
4:  beq     t0, t3, 6f
5:  sb      a1, 0(t0)
    addi    t0, t0, 1
    bne     t0, t3, 5b
6:  ret
    .size   memset, . - memset
