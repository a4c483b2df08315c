/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pmp_tor.h -- a driver of physical memory protection by entries of kind TOR; see cg_pmp.h. Such
 * an entry ends at its address and begins at that of the entry in front, which costs an entry more
 * unless that one ends there. Ordinary ranges begin and end at multiples of PMP_EDGE_BYTES.
 */
#include "cg_pmp.h"

#define PMP_TOR (1u << 3)

const uint32_t cg_mpu_granule_bytes = 32; /* the entries' own are smaller */

static uint32_t pmp_read_address(uint32_t index)
{
    uint32_t value = 0;
    switch (index) {
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        CG_CSR_READ(pmpaddr##n, value);                                                            \
        break;
        CG_PMP_EACH(CASE)
#undef CASE
    default:
        break;
    }
    return value;
}

/* Entries that the core has: the addresses of others stay 0. */
static uint32_t pmp_entries(void)
{
    uint32_t count = 0;
    while (count < CG_PMP_ENTRIES) {
        const uint32_t before = pmp_read_address(count);
        pmp_write_address(count, 0xFFFFFFFFu);
        const bool is_there = pmp_read_address(count) != 0;
        pmp_write_address(count, before);
        if (!is_there) {
            break;
        }
        count++;
    }
    return count;
}

/* False if too few entries are left. */
static bool pmp_open(uint32_t start, uint32_t end, cg_mpu_access access, uint32_t entries)
{
    const bool goes_on = pmp_next != 0 && pmp_read_address(pmp_next - 1u) == start >> 2;
    if (pmp_next + (goes_on ? 1u : 2u) > entries) {
        return false;
    }
    if (!goes_on) {
        pmp_set(start, 0);
    }
    pmp_set(end, PMP_TOR | pmp_rights(access));
    return true;
}

uint32_t cg_mpu_regions(void)
{
    return pmp_entries();
}

static void open_of(const cg_mpu_range *ranges, uint32_t count, bool closed, uint32_t entries)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((ranges[i].access == CG_MPU_CLOSED) == closed) {
            const uint32_t edge = closed ? 4u : PMP_EDGE_BYTES;
            const uint32_t end = (ranges[i].end + edge - 1u) & ~(edge - 1u);
            (void)pmp_open(ranges[i].start & ~(edge - 1u), end, ranges[i].access, entries);
        }
    }
}

void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count)
{
    const uint32_t entries = pmp_entries();
    pmp_close_all();
    if (entries < 2u * count) {
        pmp_open_everything();
        return;
    }
    open_of(ranges, count, true, entries); /* the first entry rules */
    open_of(ranges, count, false, entries);
    pmp_write_config();
}

bool cg_mpu_add(const cg_mpu_range *range)
{
    const bool is_open = pmp_open(range->start, range->end, range->access, pmp_entries());
    pmp_write_config();
    return is_open;
}

void cg_mpu_limit_stack(uint32_t limit)
{
    (void)limit; /* the stack is the lowest part of what is open */
}
