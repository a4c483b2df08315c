/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_core.h -- what the test firmware needs of a core, here Arm's. Every core family has a header
 * of this name with these functions.
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
static inline void cg_core_run_model(void)
{
    __asm__ volatile("svc 0" ::: "memory", "r0", "r1", "r2", "r3", "r12");
}

/* On the model's side: gives way to the link, which may give it up. */
static inline void cg_core_give_way(void)
{
    __asm__ volatile("svc 0" ::: "memory");
}

/* Counts down to 0; the number of instructions that took. */
static inline uint32_t cg_core_count_down(uint32_t loops)
{
    uint32_t count = loops;
    __asm__ volatile(".syntax unified\n"
                     "1: subs  %0, #1\n"
                     "   bne   1b\n"
                     : "+l"(count)
                     :
                     : "cc");
    return 2u * loops;
}

/* Returns when all writes to registers have arrived. */
static inline void cg_core_finish_writes(void)
{
    __asm__ volatile("dsb" ::: "memory");
}

/* A call of semihosting (Arm's, 2.0): the trap of M-profile cores is BKPT 0xAB. */
static inline uint32_t cg_core_call_debugger(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* Keeps why the core that runs faulted, `sp` being where the exception frame is, and clears it. */
void cg_fault_record(cg_link_fault *fault, uint32_t sp);

/* Handlers for the vector table. */
void cg_svc_handler(void);
void cg_fault_handler(void);

#define NVIC_ENABLE  0xE000E100u
#define NVIC_DISABLE 0xE000E180u
#define NVIC_CLEAR   0xE000E280u

/*
 * Sleeps until the UART interrupts, which nobody handles: the core only wakes up. An emulator then
 * takes no time from who computes the next request. A byte that is there already wakes the core at
 * once; look again afterwards. This is a pause where the board does not name the interrupt, and in
 * the handler of a fault, which no interrupt wakes.
 */
static inline void cg_wait_for_uart(void)
{
    const uint32_t number = cg_board.uart_interrupt;
    uint32_t exception;
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    if (number == CG_NO_INTERRUPT || exception != 0) {
        cg_pause();
        return;
    }
    const uint32_t word = 4u * (number / 32u);
    const uint32_t bit = 1u << (number % 32u);
    __asm__ volatile("cpsid i" ::: "memory");
    *cg_register(NVIC_ENABLE + word) = bit;
    __asm__ volatile("dsb\n\twfi" ::: "memory");
    *cg_register(NVIC_DISABLE + word) = bit;
    *cg_register(NVIC_CLEAR + word) = bit;
    __asm__ volatile("dsb\n\tisb\n\tcpsie i" ::: "memory");
}

#endif /* CG_CORE_H */
