/* SPDX-License-Identifier: 0BSD */
/*
 * counter_constants.S -- generated; do not edit.
 *
 * The image of constants, which an application would have received. Its SHA-256 is
 * 75e90cf1c485784ad0fca80eabdf621397257f9b833010a86b30a64c032ea869.
 */
    .section ".rodata.cg.flash", "a", %progbits
    .balign 16
    .global counter_constants_bytes
    .type counter_constants_bytes, %object
counter_constants_bytes:
    .incbin "counter_constants.bin"
    .size counter_constants_bytes, . - counter_constants_bytes
    .section .note.GNU-stack, "", %progbits
