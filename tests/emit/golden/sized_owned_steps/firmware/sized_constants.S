/* SPDX-License-Identifier: 0BSD */
/*
 * sized_constants.S -- generated; do not edit.
 *
 * The image of constants, which an application would have received. Its SHA-256 is
 * d68b061f111cada6f0a667c79a68364e3a7ebf77827159a13b3a0dbb363d8b77.
 */
    .section ".rodata.cg.flash", "a", %progbits
    .balign 16
    .global sized_constants_bytes
    .type sized_constants_bytes, %object
sized_constants_bytes:
    .incbin "sized_constants.bin"
    .size sized_constants_bytes, . - sized_constants_bytes
    .section .note.GNU-stack, "", %progbits
