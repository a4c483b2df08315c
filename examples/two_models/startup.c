/* SPDX-License-Identifier: 0BSD */
/* startup.c -- vectors, stack and start-up of a Cortex-M4F. */
#include <stdint.h>

#include "digits.h"
#include "tone.h"

/*
 * The main stack. link.ld puts it where the RAM begins, so that an overflow leaves the RAM instead
 * of writing over variables. What a model may take of it is a bound that codegen has proved; what
 * the application's functions above the call take, interrupts included, is ours to know.
 */
#ifndef MAIN_STACK_BYTES
#define MAIN_STACK_BYTES 1024u
#endif
#define APPLICATION_BYTES 256u

_Static_assert(MAIN_STACK_BYTES % 8u == 0u, "a stack is aligned to 8 bytes");
#ifndef TASKS /* with tasks the models run on the stacks of main_tasks.c */
_Static_assert(DIGITS_STACK_BYTES + APPLICATION_BYTES <= MAIN_STACK_BYTES,
               "the main stack is too small for digits: raise MAIN_STACK_BYTES");
_Static_assert(TONE_STACK_BYTES + APPLICATION_BYTES <= MAIN_STACK_BYTES,
               "the main stack is too small for tone: raise MAIN_STACK_BYTES");
#endif

__attribute__((section(".stack"), aligned(8), used)) static uint8_t main_stack[MAIN_STACK_BYTES];

/* link.ld defines these. */
extern uint8_t data_start[], data_end[], bss_start[], bss_end[];
extern const uint8_t data_load[];

int main(void);
void reset(void);
void halt(void);

/* What a scheduler for the Cortex-M4F handles; without one these exceptions do not occur. */
void vPortSVCHandler(void) __attribute__((weak, alias("halt")));
void xPortPendSVHandler(void) __attribute__((weak, alias("halt")));
void xPortSysTickHandler(void) __attribute__((weak, alias("halt")));

typedef union {
    uint8_t *stack;
    void (*function)(void);
} vector;

/* clang-format off */
__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = main_stack + sizeof main_stack},
    {.function = reset},
    {.function = halt}, {.function = halt}, {.function = halt}, {.function = halt}, /* faults */
    {.function = halt}, {.function = halt}, {.function = halt}, {.function = halt},
    {.function = halt},
    {.function = vPortSVCHandler},
    {.function = halt}, {.function = halt},
    {.function = xPortPendSVHandler},
    {.function = xPortSysTickHandler},
};
/* clang-format on */

#define CPACR     (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_FPU (0xFu << 20)

void halt(void)
{
    for (;;) {
        __asm__ volatile("wfi");
    }
}

void reset(void)
{
    CPACR |= CPACR_FPU;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    const uint8_t *from = data_load;
    for (uint8_t *to = data_start; to < data_end; to++) {
        *to = *from;
        from++;
    }
    for (uint8_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    (void)main();
    halt();
}
