/* SPDX-License-Identifier: Apache-2.0 */
/* counter_mcycle.c -- cycles of a RISC-V core; an emulator that counts instructions counts those.
 */
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
        CG_CSR_READ(mcycleh, high);
        CG_CSR_READ(mcycle, low);
        CG_CSR_READ(mcycleh, again);
    } while (high != again);
    return ((uint64_t)high << 32) | low;
}
