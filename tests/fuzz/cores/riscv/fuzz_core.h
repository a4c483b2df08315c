/*
 * fuzz_core.h -- what a fuzz program needs of a RISC-V core: start, semihosting, closed memory.
 *
 * Kernels run at the machine's level, which locked entries bind too. FUZZ_FPU: it has floats.
 */
#ifndef FUZZ_CORE_H
#define FUZZ_CORE_H

#include "target.h"

/* Three instructions of 32 bits in one page. */
__attribute__((naked, noinline, aligned(16))) static void semihost(int operation, void *argument)
{
    (void)operation, (void)argument; /* a0, a1 */
    __asm__ volatile("   .option push\n"
                     "   .option norvc\n"
                     "   slli  zero, zero, 0x1f\n"
                     "   ebreak\n"
                     "   srai  zero, zero, 7\n"
                     "   .option pop\n"
                     "   ret\n");
}

__attribute__((section(".vectors"), naked, used)) static void start(void)
{
    __asm__ volatile("   la    sp, fuzz_stack_end\n"
                     "   la    t0, fuzz_trap\n"
                     "   csrw  mtvec, t0\n"
                     "   j     fuzz_main\n");
}

__attribute__((naked, aligned(4), used)) static void fuzz_trap(void)
{
    __asm__ volatile("   la    sp, fuzz_stack_end\n"
                     "   j     fuzz_fault\n");
}

#define PMP_NAPOT (3u << 3)
#define PMP_LOCK  (1u << 7)
#define PMP_OPEN  (7u)
#define PMP_READ  (5u) /* and execute */

/* Entry \n of the ranges, 2^n bytes each; the first one that holds an address decides. */
#define SET_ENTRY(n)                                                                               \
    if (fuzz_range_count > (n)) {                                                                  \
        const fuzz_range *const range = &fuzz_ranges[n];                                           \
        const uint32_t access = (range->is_read_only != 0u) ? PMP_READ : PMP_OPEN;                 \
        const uint32_t word = (range->start >> 2) | ((range->size >> 3) - 1u);                     \
        __asm__ volatile("csrw pmpaddr" #n ", %0" ::"r"(word));                                    \
        config[(n) / 4] |= (access | PMP_NAPOT | PMP_LOCK) << (8 * ((n) % 4));                     \
    }

static inline void protect(void)
{
    uint32_t config[2] = {0, 0};
    SET_ENTRY(0)
    SET_ENTRY(1)
    SET_ENTRY(2)
    SET_ENTRY(3)
    SET_ENTRY(4)
    SET_ENTRY(5)
    SET_ENTRY(6)
    SET_ENTRY(7)
    __asm__ volatile("csrw pmpaddr8, %0" ::"r"(0xFFFFFFFFu));
    __asm__ volatile("csrw pmpcfg1, %0" ::"r"(config[1]));
    __asm__ volatile("csrw pmpcfg0, %0" ::"r"(config[0]));
    __asm__ volatile("csrw pmpcfg2, %0" ::"r"(PMP_NAPOT | PMP_LOCK) : "memory"); /* all else */
}

static inline void set_up_core(void)
{
#if FUZZ_FPU != 0
    __asm__ volatile("csrs mstatus, %0\n\tcsrw fcsr, zero" ::"r"(0x2000u) : "memory");
#endif
#if defined(__riscv_vector)
    __asm__ volatile("csrs mstatus, %0" ::"r"(0x600u) : "memory");
#endif
}

#endif /* FUZZ_CORE_H */
