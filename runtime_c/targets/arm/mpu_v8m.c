/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpu_v8m.c -- MPU of Armv8-M: ranges in multiples of 32 bytes that must not overlap, so closed
 * ranges are those that are not listed. The core also limits the stack pointer.
 */
#include "cg_port.h"

#define MPU_TYPE  0xE000ED90u
#define MPU_CTRL  0xE000ED94u
#define MPU_RNR   0xE000ED98u
#define MPU_RBAR  0xE000ED9Cu
#define MPU_RLAR  0xE000EDA0u
#define MPU_MAIR0 0xE000EDC0u

#define CTRL_ENABLE     (1u << 0)
#define CTRL_PRIVDEFENA (1u << 2) /* privileged code keeps the default map */

#define GRANULE_BYTES   32u
#define RBAR_READ_ONLY  (3u << 1)
#define RBAR_FULL       (1u << 1)
#define RBAR_NO_CODE    (1u << 0)
#define RLAR_ENABLE     (1u << 0)
#define MAIR_WRITE_BACK 0xFFu

const uint32_t cg_mpu_granule_bytes = GRANULE_BYTES;
static uint32_t next_region;

uint32_t cg_mpu_regions(void)
{
    return (*cg_register(MPU_TYPE) >> 8) & 0xFFu;
}

static void set_region(uint32_t index, const cg_mpu_range *range, bool open)
{
    const uint32_t access =
        range->access == CG_MPU_READ_ONLY ? RBAR_READ_ONLY : RBAR_FULL | RBAR_NO_CODE;
    const uint32_t start = range->start & ~(GRANULE_BYTES - 1u);
    const uint32_t last = (range->end - 1u) & ~(GRANULE_BYTES - 1u);
    *cg_register(MPU_RNR) = index;
    *cg_register(MPU_RBAR) = start | access;
    *cg_register(MPU_RLAR) = open ? last | RLAR_ENABLE : 0;
}

void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count)
{
    const uint32_t available = cg_mpu_regions();
    uint32_t needed = 0;
    for (uint32_t i = 0; i < count; i++) {
        needed += ranges[i].access != CG_MPU_CLOSED;
    }
    if (available < CG_MPU_REGIONS) {
        return;
    }
    *cg_register(MPU_CTRL) = 0;
    if (available < needed) {
        return;
    }
    *cg_register(MPU_MAIR0) = MAIR_WRITE_BACK;
    next_region = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].access != CG_MPU_CLOSED) {
            set_region(next_region, &ranges[i], true);
            next_region++;
        }
    }
    for (uint32_t i = next_region; i < available; i++) {
        set_region(i, &ranges[0], false);
    }
    *cg_register(MPU_CTRL) = CTRL_ENABLE | CTRL_PRIVDEFENA;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

bool cg_mpu_add(const cg_mpu_range *range)
{
    if (next_region >= cg_mpu_regions()) {
        return false;
    }
    set_region(next_region, range, true);
    next_region++;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    return true;
}

void cg_mpu_limit_stack(uint32_t limit)
{
    __asm__ volatile("msr psplim, %0" ::"r"(limit));
}
