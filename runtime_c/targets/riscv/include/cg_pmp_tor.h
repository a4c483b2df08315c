/* SPDX-License-Identifier: Apache-2.0 */
/* cg_pmp_tor.h -- a driver of physical memory protection by entries of kind TOR; see cg_pmp.h. */
#include "cg_pmp.h"

const uint32_t cg_mpu_granule_bytes = 32; /* the entries' own are smaller */

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
    if (entries < 2u * count) { /* the model's level then needs what is open to it all the same */
        pmp_set(0, 0);
        pmp_set(0xFFFFFFFFu, PMP_TOR | PMP_READ | PMP_WRITE | PMP_EXECUTE);
    } else {
        open_of(ranges, count, true, entries); /* the first entry rules */
        open_of(ranges, count, false, entries);
    }
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
