/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_bytes.h -- how long an instruction is, for the QEMU plugin. Every core family whose
 * instructions are counted has a header of this name.
 */
#ifndef CG_INSTRUCTION_BYTES_H
#define CG_INSTRUCTION_BYTES_H

#include <stdint.h>

/* Bytes of a RISC-V instruction, by its first halfword in memory order. */
static inline uint64_t instruction_bytes(const uint8_t first[2])
{
    return (first[0] & 3) == 3 ? 4 : 2;
}

#endif /* CG_INSTRUCTION_BYTES_H */
