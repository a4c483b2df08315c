/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1.c -- the second core in the test firmware: from its reset to the model's mailbox. It runs
 * steps on a stack of its own, privileged, but behind an MPU that closes to it what core 0's closes
 * to the model. A fault there is kept for the link; then core 1 starts anew, so that core 0, which
 * waits for the step, gets to where it can tell.
 */
#include "core1.h"

#include "cg_core1.h"
#include "cg_link.h"
#include "cg_port.h"

#define SCB_CCR   0xE000ED14u
#define SCB_SHCSR 0xE000ED24u
#define SCB_CPACR 0xE000ED88u

#define CCR_DIV_0_TRP (1u << 4)
#define SHCSR_FAULTS  (7u << 16) /* MemManage, BusFault, UsageFault */
#define CPACR_FPU     (0xFu << 20)

#define HANDLER_STACK_BYTES 256u
#define FRAME_WORDS         8u
#define FRAME_PC            6u
#define FRAME_PSR           7u
#define PSR_THUMB           0x01000000u

typedef union {
    uint8_t *stack;
    void (*function)(void);
} vector;

static uint8_t handler_stack[HANDLER_STACK_BYTES] CG_ALIGNED(8);
cg_link_fault cg_core1_fault;
uint32_t cg_core1_fault_step;
static uint8_t *waiting; /* core 1's stack pointer while it waits for steps */

void cg_core1_reset(void);
void cg_core1_fault_handler(void);

/* clang-format off */
static const vector vectors[16] CG_ALIGNED(128) = {
    {.stack = &handler_stack[HANDLER_STACK_BYTES]}, {.function = cg_core1_reset},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
    {.function = cg_core1_fault_handler}, {.function = cg_core1_fault_handler},
};
/* clang-format on */

/* ---- on core 1 -------------------------------------------------------------------------- */

uint8_t *cg_core1_set_up(void);
__attribute__((used)) uint8_t *cg_core1_set_up(void)
{
    *cg_register(SCB_CCR) |= CCR_DIV_0_TRP;
    *cg_register(SCB_SHCSR) |= SHCSR_FAULTS;
#if defined(__ARM_FP)
    *cg_register(SCB_CPACR) |= CPACR_FPU;
#endif
    __asm__ volatile("msr psplim, %0\n\tdsb\n\tisb" ::"r"(cg_board.core1->stack_start) : "memory");
    return cg_board.core1->stack_end;
}

/* Steps run on the process stack: what overflows it leaves the handler's alone. */
__attribute__((naked)) void cg_core1_reset(void)
{
    __asm__ volatile(".syntax unified\n"
                     "   bl    cg_core1_set_up\n"
                     "   msr   psp, r0\n"
                     "   movs  r0, #2\n" /* thread mode uses psp */
                     "   msr   control, r0\n"
                     "   isb\n"
                     "   ldr   r0, =cg_core1_main\n"
                     "   bx    r0\n"
                     "   .ltorg\n");
}

/* Keeps the first fault; returns the stack pointer of a frame that leads to a new start. */
uint32_t *cg_core1_fault_taken(uint32_t psp);
__attribute__((used)) uint32_t *cg_core1_fault_taken(uint32_t psp)
{
    cg_link_fault found;
    cg_fault_record(&found, psp);
    if (cg_core1_fault.cause == 0) {
        cg_core1_fault = found;
        cg_core1_fault_step = cg_context_step();
    }
    uint32_t *const frame = (uint32_t *)(void *)cg_board.core1->stack_end - FRAME_WORDS;
    for (uint32_t i = 0; i < FRAME_WORDS; i++) {
        frame[i] = 0;
    }
    frame[FRAME_PC] = (uint32_t)(uintptr_t)cg_core1_reset & ~1u;
    frame[FRAME_PSR] = PSR_THUMB;
    __asm__ volatile("dmb" ::: "memory");
    cg_core1_mailbox.step = NULL;
    __asm__ volatile("dsb\n\tsev" ::: "memory");
    return frame;
}

__attribute__((naked)) void cg_core1_fault_handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "   mrs   r0, psp\n"
                     "   bl    cg_core1_fault_taken\n"
                     "   msr   psp, r0\n"
                     "   ldr   r0, =0xFFFFFFFD\n" /* thread, process stack, no FPU state */
                     "   bx    r0\n"
                     "   .ltorg\n");
}

static void look_at_stack(const void *given)
{
    (void)given;
    __asm__ volatile("mov %0, sp" : "=r"(waiting));
}

/* ---- on core 0 -------------------------------------------------------------------------- */

void cg_core1_follow(void)
{
    cg_core1_see_mpu();
    cg_core1_run(cg_core1_follow_mpu, NULL);
}

uint8_t *cg_core1_stack_top(void)
{
    cg_core1_run(look_at_stack, NULL);
    return waiting;
}

void cg_core1_start(void)
{
    cg_core1_release(cg_board.core1->registers, (uint32_t)(uintptr_t)vectors);
}
