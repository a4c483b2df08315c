/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1_rp2350.c -- core 1 of the RP2350. Its boot ROM waits for six words in the queue between the
 * cores (SIO), and answers each. The cores are Hazard3: h3.block sleeps until the other core's
 * h3.unblock, and falls through if that came before; at any level.
 *
 * Source: RP2350 Datasheet, sections SIO (inter-processor FIFOs), Launching code on processor core
 * 1, Event signals (RISC-V); Hazard3 documentation, Xh3power.
 */
#include "cg_core1.h"
#include "cg_port.h"
#include "core1.h"

#define FIFO_STATUS 0x50u
#define FIFO_WRITE  0x54u
#define FIFO_READ   0x58u
#define STATUS_HAS  (1u << 0) /* a word of the other core's */
#define STATUS_ROOM (1u << 1)

#define LAUNCH_WORDS 6u

void cg_core1_wake(void)
{
    __asm__ volatile("slt x0, x0, x1" ::: "memory"); /* h3.unblock */
}

void cg_core1_sleep(void)
{
    __asm__ volatile("slt x0, x0, x0" ::: "memory"); /* h3.block */
}

/* Sends a word, waits for the answer. */
static uint32_t answer_to(uint32_t registers, uint32_t word)
{
    while ((*cg_register(registers + FIFO_STATUS) & STATUS_ROOM) == 0) {
    }
    *cg_register(registers + FIFO_WRITE) = word;
    cg_core1_wake();
    while ((*cg_register(registers + FIFO_STATUS) & STATUS_HAS) == 0) {
        cg_core1_sleep();
    }
    return *cg_register(registers + FIFO_READ);
}

static void empty(uint32_t registers)
{
    while ((*cg_register(registers + FIFO_STATUS) & STATUS_HAS) != 0) {
        (void)*cg_register(registers + FIFO_READ);
    }
    cg_core1_wake();
}

/* The words: trap vector, stack pointer, first instruction, which sets the other two anew. */
void cg_core1_release(uint32_t registers, uint32_t start)
{
    const uint32_t stack = (uint32_t)(uintptr_t)cg_board.core1->stack_end;
    const uint32_t words[LAUNCH_WORDS] = {0, 0, 1, start, stack, start};
    uint32_t sent = 0;
    __asm__ volatile("fence" ::: "memory"); /* memory is as core 1 shall find it */
    while (sent < LAUNCH_WORDS) {
        if (words[sent] == 0) {
            empty(registers);
        }
        sent = answer_to(registers, words[sent]) == words[sent] ? sent + 1u : 0;
    }
}
