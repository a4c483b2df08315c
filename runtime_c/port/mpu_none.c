/* SPDX-License-Identifier: Apache-2.0 */
/* mpu_none.c -- cores without memory protection unit. */
#include "cg_port.h"

const uint32_t cg_mpu_granule_bytes = 32;

uint32_t cg_mpu_regions(void)
{
    return 0;
}

void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count)
{
    (void)ranges;
    (void)count;
}

bool cg_mpu_add(const cg_mpu_range *range)
{
    (void)range;
    return false;
}

void cg_mpu_limit_stack(uint32_t limit)
{
    (void)limit;
}
