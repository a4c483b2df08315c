/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_systick.c -- SysTick, where a board has nothing better: 24 bits that count down, wraps
 * counted by its exception. A wrap during an inference puts one exception frame on its stack.
 */
#include "cg_port.h"

#define CSR 0x0u
#define RVR 0x4u
#define CVR 0x8u

#define CSR_ENABLE    (1u << 0)
#define CSR_EXCEPTION (1u << 1)
#define CSR_CORE      (1u << 2)
#define MAXIMUM       0x00FFFFFFu

#define ICSR           0xE000ED04u
#define ICSR_PENDSTSET (1u << 26)

const uint8_t cg_counter_bits = 64;
static volatile uint32_t wraps;

void cg_systick_handler(void);
void cg_systick_handler(void)
{
    wraps++;
}

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + RVR) = MAXIMUM;
    *cg_register(cg_board.counter_address + CVR) = 0;
    *cg_register(cg_board.counter_address + CSR) = CSR_ENABLE | CSR_EXCEPTION | CSR_CORE;
}

uint64_t cg_counter_read(void)
{
    for (;;) {
        const uint32_t before = wraps;
        const uint32_t value = *cg_register(cg_board.counter_address + CVR) & MAXIMUM;
        const bool pending = (*cg_register(ICSR) & ICSR_PENDSTSET) != 0;
        if (before == wraps && !pending) {
            return (uint64_t)before * (MAXIMUM + 1u) + ((MAXIMUM + 1u - value) & MAXIMUM);
        }
    }
}
