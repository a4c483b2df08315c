/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_busy.h -- which models run, for builds with --busy-flag: a second call is refused, whether it
 * comes from an interrupt or from another task. A bit a model; models that share no pool may run
 * together.
 *
 * On cores without LDREX interrupts are off for a few instructions; that takes privileged code.
 */
#ifndef CG_BUSY_H
#define CG_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__ARM_ARCH_6M__)
static inline bool cg_enter(uint32_t *running, uint32_t conflicting, uint32_t bit)
{
    volatile uint32_t *const bits = running;
    uint32_t masked;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked) : : "memory");
    const bool is_free = (*bits & conflicting) == 0u;
    if (is_free) {
        *bits |= bit;
    }
    __asm__ volatile("msr primask, %0" : : "r"(masked) : "memory");
    return is_free;
}

static inline void cg_leave(uint32_t *running, uint32_t bit)
{
    volatile uint32_t *const bits = running;
    uint32_t masked;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked) : : "memory");
    *bits &= ~bit;
    __asm__ volatile("msr primask, %0" : : "r"(masked) : "memory");
}
#else
static inline bool cg_enter(uint32_t *running, uint32_t conflicting, uint32_t bit)
{
    uint32_t bits = __atomic_load_n(running, __ATOMIC_RELAXED);
    do {
        if ((bits & conflicting) != 0u) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(running, &bits, bits | bit, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED));
    return true;
}

static inline void cg_leave(uint32_t *running, uint32_t bit)
{
    (void)__atomic_fetch_and(running, ~bit, __ATOMIC_RELEASE);
}
#endif

#endif /* CG_BUSY_H */
