/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_l1.c -- the caches of Cortex-M7, M55 and M85, by the architecture's registers. After reset
 * they hold anything, so each is invalidated before it is turned on. One that is on already (a boot
 * ROM's doing) is left alone: to invalidate it would lose what was written.
 *
 * Nothing here cleans a cache: the firmware uses no DMA. Reviewed only, as QEMU models no caches.
 */
#include "cg_port.h"

#define SCB_CCR     0xE000ED14u
#define SCB_CCSIDR  0xE000ED80u
#define SCB_CSSELR  0xE000ED84u
#define SCB_ICIALLU 0xE000EF50u
#define SCB_DCISW   0xE000EF60u

#define CCR_DC (1u << 16)
#define CCR_IC (1u << 17)

#define CSSELR_L1_DATA 0u

static void barrier(void)
{
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

static void invalidate_data(void)
{
    *cg_register(SCB_CSSELR) = CSSELR_L1_DATA;
    barrier();
    const uint32_t sizes = *cg_register(SCB_CCSIDR);
    const uint32_t set_shift = (sizes & 7u) + 4u; /* log2 of a line's bytes */
    const uint32_t last_way = (sizes >> 3) & 0x3FFu;
    const uint32_t last_set = (sizes >> 13) & 0x7FFFu;
    /* The way's number stands at the top of the word, in as many bits as it needs. */
    const uint32_t way_shift = last_way == 0 ? 0 : (uint32_t)__builtin_clz(last_way);
    for (uint32_t set = 0; set <= last_set; set++) {
        for (uint32_t way = 0; way <= last_way; way++) {
            *cg_register(SCB_DCISW) = (way << way_shift) | (set << set_shift);
        }
    }
    barrier();
}

void cg_cache_enable(void)
{
    barrier();
    if ((*cg_register(SCB_CCR) & CCR_IC) == 0) {
        *cg_register(SCB_ICIALLU) = 0;
        barrier();
        *cg_register(SCB_CCR) |= CCR_IC;
        barrier();
    }
    if ((*cg_register(SCB_CCR) & CCR_DC) == 0) {
        invalidate_data();
        *cg_register(SCB_CCR) |= CCR_DC;
        barrier();
    }
}
