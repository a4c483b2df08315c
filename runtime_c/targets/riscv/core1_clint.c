/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1_clint.c -- a second core that SiFive's local interruptor (CLINT) wakes: a word a core,
 * MSIP, is its software interrupt. Interrupts are never taken: the core that sleeps in WFI goes on
 * there. The reset of the image has core 1 sleep so, and go on to cg_core1_reset.
 */
#include "cg_core1.h"
#include "cg_port.h"
#include "core1.h"

#define MIE_SOFTWARE (1u << 3)

static volatile uint32_t *software_interrupt(uint32_t core)
{
    return cg_register(cg_board.core1->registers + 4u * core);
}

static uint32_t own_core(void)
{
    uint32_t core;
    CG_CSR_READ(mhartid, core);
    return core;
}

static void wake_other(void)
{
    __asm__ volatile("fence" ::: "memory");
    *software_interrupt(1u - own_core()) = 1;
}

/* One that came since the last sleep is there still, so WFI ends at once. */
static void sleep(void)
{
    CG_CSR_WRITE(mie, MIE_SOFTWARE);
    __asm__ volatile("wfi" ::: "memory");
    CG_CSR_WRITE(mie, 0);
    *software_interrupt(own_core()) = 0;
    __asm__ volatile("fence" ::: "memory");
}

void cg_core1_wake(void)
{
    cg_core1_ask(wake_other);
}

void cg_core1_sleep(void)
{
    cg_core1_ask(sleep);
}

void cg_core1_release(uint32_t registers, uint32_t start)
{
    (void)start;
    __asm__ volatile("fence" ::: "memory"); /* memory is as core 1 shall find it */
    *cg_register(registers + 4u) = 1;
}
