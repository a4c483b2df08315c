/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_core.h -- what the test firmware needs of a core, here RISC-V's. Every core family has a
 * header of this name with these functions.
 */
#ifndef CG_CORE_H
#define CG_CORE_H

#include "cg_link.h"

/* core.c: has the model's context begin with `run`, on a fresh stack. */
void cg_core_prepare(cg_status (*run)(void));
/* Highest stack pointer of the model: what `run` is called with. */
uint8_t *cg_context_stack_top(void);

/*
 * On the link's side: lets the model run until it gives way, ends (CG_LINK_FINISHED and the status
 * are in cg_model_event then), or faults (cg_event.fault has the cause).
 */
void cg_core_run_model(void);

/* On the model's side: gives way to the link, which may give it up. */
void cg_core_give_way(void);

/* Counts down to 0; the number of instructions that took. */
static inline uint32_t cg_core_count_down(uint32_t loops)
{
    uint32_t count = loops;
    __asm__ volatile("1: addi  %0, %0, -1\n"
                     "   bnez  %0, 1b\n"
                     : "+r"(count));
    return 2u * loops;
}

/* Returns when all writes to registers have arrived. */
static inline void cg_core_finish_writes(void)
{
    __asm__ volatile("fence" ::: "memory");
}

/* A call of semihosting (RISC-V's, 0.3): three long instructions that lie in one page. */
static inline uint32_t cg_core_call_debugger(uint32_t operation, const void *argument)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile("   .balign 16\n"
                     "   .option push\n"
                     "   .option norvc\n"
                     "   slli  x0, x0, 0x1f\n"
                     "   ebreak\n"
                     "   srai  x0, x0, 7\n"
                     "   .option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

/* Entry of all traps. */
void cg_trap(void);
/* core1.c: runs `function` at the machine's level, whichever level asks, once core 1 was started.
 */
void cg_core1_ask(void (*function)(void));

/* Keeps why the core that runs faulted. */
void cg_fault_record(cg_link_fault *fault, uint32_t ra, uint32_t sp);
/* Notes in it whether the stack pointer had left its stack. */
void cg_fault_note_stack(cg_link_fault *fault, const uint8_t *start, const uint8_t *end);

/* SiFive's interrupt controller (PLIC), context 0: the first core's own level. */
#define PLIC                0x0C000000u
#define PLIC_ENABLE         (PLIC + 0x2000u)
#define PLIC_THRESHOLD      (PLIC + 0x200000u)
#define PLIC_CLAIM          (PLIC + 0x200004u)
#define MIE_EXTERNAL        (1u << 11)
#define CG_CSR_WRITE(n, v)  __asm__ volatile("csrw " #n ", %0" ::"r"(v) : "memory")
#define CG_CSR_READ(n, out) __asm__ volatile("csrr %0, " #n : "=r"(out) : : "memory")

/* Entries of the physical memory protection: go(number) for each. */
#define CG_PMP_ENTRIES 16u
#define CG_PMP_EACH(go)                                                                            \
    go(0) go(1) go(2) go(3) go(4) go(5) go(6) go(7) go(8) go(9) go(10) go(11) go(12) go(13) go(14) \
        go(15)

/*
 * Sleeps until the UART interrupts, which nobody handles: the core only wakes up. An emulator then
 * takes no time from who computes the next request. A byte that is there already wakes the core at
 * once; look again afterwards. This is a pause where the board does not name the interrupt.
 */
static inline void cg_wait_for_uart(void)
{
    const uint32_t number = cg_board.uart_interrupt;
    if (number == CG_NO_INTERRUPT) {
        cg_pause();
        return;
    }
    *cg_register(PLIC + 4u * number) = 1; /* its priority */
    *cg_register(PLIC_ENABLE + 4u * (number / 32u)) = 1u << (number % 32u);
    *cg_register(PLIC_THRESHOLD) = 0;
    CG_CSR_WRITE(mie, MIE_EXTERNAL);
    __asm__ volatile("wfi" ::: "memory");
    CG_CSR_WRITE(mie, 0);
    const uint32_t claimed = *cg_register(PLIC_CLAIM);
    *cg_register(PLIC_CLAIM) = claimed;
}

#endif /* CG_CORE_H */
