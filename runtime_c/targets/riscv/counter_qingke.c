/* SPDX-License-Identifier: Apache-2.0 */
/* counter_qingke.c -- SysTick of WCH's QingKe V4: 64 bits, at the core's clock. */
#include "cg_port.h"

#define CTLR 0x0u
#define CNTL 0x8u
#define CNTH 0xCu

#define CTLR_ENABLE     (1u << 0)
#define CTLR_CORE_CLOCK (1u << 2)

const uint8_t cg_counter_bits = 64;

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + CTLR) = CTLR_ENABLE | CTLR_CORE_CLOCK;
}

uint64_t cg_counter_read(void)
{
    uint32_t high;
    uint32_t low;
    do {
        high = *cg_register(cg_board.counter_address + CNTH);
        low = *cg_register(cg_board.counter_address + CNTL);
    } while (high != *cg_register(cg_board.counter_address + CNTH));
    return ((uint64_t)high << 32) | low;
}
