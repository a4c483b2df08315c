/*
 * fuzz_core.h -- what a fuzz program needs of an Arm core: start, semihosting, closed memory.
 *
 * FUZZ_MPU: 7 or 8, the architecture of the protection unit; 0: there is none. FUZZ_FPU: it has
 * floats.
 */
#ifndef FUZZ_CORE_H
#define FUZZ_CORE_H

#include "target.h"

static inline void semihost(int operation, void *argument)
{
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

typedef union {
    uint8_t *stack;
    void (*function)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = fuzz_stack_end}, {.function = fuzz_main},  {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},
};

static inline volatile uint32_t *at_address(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

#define MPU_CTRL  0xE000ED94u
#define MPU_RNR   0xE000ED98u
#define MPU_RBAR  0xE000ED9Cu
#define MPU_RASR  0xE000EDA0u /* v8-M: RLAR */
#define MPU_MAIR0 0xE000EDC0u

static inline void protect(void)
{
#if FUZZ_MPU != 0
    *at_address(0xE000ED08u) = (uint32_t)(uintptr_t)vectors;
    for (uint32_t i = 0; i < fuzz_range_count; i++) {
        const fuzz_range *const range = &fuzz_ranges[i];
        *at_address(MPU_RNR) = i;
#if FUZZ_MPU == 7
        uint32_t log2 = 0;
        while ((1u << log2) < range->size) {
            log2++;
        }
        const uint32_t access =
            (range->is_read_only != 0u) ? (6u << 24) : ((3u << 24) | (1u << 28));
        *at_address(MPU_RBAR) = range->start;
        *at_address(MPU_RASR) = access | (0xBu << 16) | ((log2 - 1u) << 1) | 1u;
#else
        const uint32_t access = (range->is_read_only != 0u) ? (2u << 1) : 1u;
        *at_address(MPU_MAIR0) = 0xFFu;
        *at_address(MPU_RBAR) = range->start | access;
        *at_address(MPU_RASR) = ((range->start + range->size - 1u) & ~31u) | 1u;
#endif
    }
    *at_address(MPU_CTRL) = 1u;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
}

static inline void set_up_core(void)
{
#if FUZZ_FPU != 0
    *at_address(0xE000ED88u) |= 0xFu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
}

#endif /* FUZZ_CORE_H */
