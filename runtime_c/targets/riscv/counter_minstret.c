/* SPDX-License-Identifier: Apache-2.0 */
/* counter_minstret.c -- instructions that a RISC-V core has executed: for emulators, which know no
 * cycles. */
#include "cg_port.h"

const uint8_t cg_counter_bits = 64;

void cg_counter_start(void)
{
}

uint64_t cg_counter_read(void)
{
    uint32_t high;
    uint32_t low;
    uint32_t again;
    do {
        CG_CSR_READ(minstreth, high);
        CG_CSR_READ(minstret, low);
        CG_CSR_READ(minstreth, again);
    } while (high != again);
    return ((uint64_t)high << 32) | low;
}
