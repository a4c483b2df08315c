/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_dwt.c -- CYCCNT of the data watchpoint and trace unit, 32 bits at the core's clock:
 * Cortex-M3 and up. QEMU has none.
 */
#include "cg_port.h"

#define DEMCR        0xE000EDFCu
#define DEMCR_TRCENA (1u << 24)

#define DWT_CTRL   0x000u
#define DWT_CYCCNT 0x004u
#define DWT_LAR    0xFB0u

#define CTRL_CYCCNTENA (1u << 0)
#define LAR_UNLOCK     0xC5ACCE55u /* the Cortex-M7 of some chips locks the unit; else reserved */

const uint8_t cg_counter_bits = 32;

void cg_counter_start(void)
{
    *cg_register(DEMCR) |= DEMCR_TRCENA;
    *cg_register(cg_board.counter_address + DWT_LAR) = LAR_UNLOCK;
    *cg_register(cg_board.counter_address + DWT_CYCCNT) = 0;
    *cg_register(cg_board.counter_address + DWT_CTRL) |= CTRL_CYCCNTENA;
}

uint64_t cg_counter_read(void)
{
    return *cg_register(cg_board.counter_address + DWT_CYCCNT);
}
