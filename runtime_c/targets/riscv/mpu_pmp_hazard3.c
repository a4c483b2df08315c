/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpu_pmp_hazard3.c -- physical memory protection of the RP2350's Hazard3: entries of 2^n bytes
 * (NAPOT) alone, read and execute exchanged in them (erratum E6). A range becomes the smallest such
 * block that holds it.
 */
#define PMP_READ    (1u << 2)
#define PMP_EXECUTE (1u << 0)
#include "cg_pmp.h"

#define PMP_NAPOT   (3u << 3)
#define LEAST_BYTES 32u
#define MOST_BYTES  0x80000000u
#define ENTRIES     8u /* those behind are hard-wired, or absent */

const uint32_t cg_mpu_granule_bytes = LEAST_BYTES;

uint32_t cg_mpu_regions(void)
{
    return ENTRIES;
}

static void cover(const cg_mpu_range *range)
{
    uint32_t size = LEAST_BYTES;
    while (size < MOST_BYTES && (range->floor & ~(size - 1u)) + size < range->end) {
        size *= 2u;
    }
    const uint32_t base = range->floor & ~(size - 1u);
    pmp_set(base | (size / 2u - 1u), PMP_NAPOT | pmp_rights(range->access));
}

void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count)
{
    pmp_close_all();
    if (count > ENTRIES) {
        pmp_open_everything();
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].access == CG_MPU_CLOSED) { /* the first entry rules */
            cover(&ranges[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].access != CG_MPU_CLOSED) {
            cover(&ranges[i]);
        }
    }
    pmp_write_config();
}

bool cg_mpu_add(const cg_mpu_range *range)
{
    (void)range; /* blocks of 2^n bytes are seldom exact */
    return false;
}

void cg_mpu_limit_stack(uint32_t limit)
{
    (void)limit; /* the stack is the lowest part of what is open */
}
