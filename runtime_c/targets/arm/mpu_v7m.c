/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpu_v7m.c -- MPU of Armv7-M: regions of 2^n bytes, aligned to their size, each of eight parts
 * that can be left out. A range becomes as many regions as are to spare, the last one rounded up.
 * Among overlapping regions the one of the highest number rules.
 */
#include "cg_port.h"

#define MPU_TYPE 0xE000ED90u
#define MPU_CTRL 0xE000ED94u
#define MPU_RNR  0xE000ED98u
#define MPU_RBAR 0xE000ED9Cu
#define MPU_RASR 0xE000EDA0u

#define CTRL_ENABLE     (1u << 0)
#define CTRL_PRIVDEFENA (1u << 2) /* privileged code keeps the default map */

#define RASR_ENABLE    (1u << 0)
#define RASR_NORMAL    ((1u << 19) | (1u << 17) | (1u << 16)) /* TEX 1, C, B: write-back memory */
#define RASR_READ_ONLY (6u << 24)
#define RASR_FULL      (3u << 24)
#define RASR_NO_CODE   (1u << 28)

#define LEAST_WITH_PARTS 256u /* smaller regions have no parts to leave out */
#define MOST_BYTES       0x80000000u

const uint32_t cg_mpu_granule_bytes = 32;
static uint32_t next_region;

uint32_t cg_mpu_regions(void)
{
    return (*cg_register(MPU_TYPE) >> 8) & 0xFFu;
}

static uint32_t attributes(cg_mpu_access access)
{
    switch (access) {
    case CG_MPU_READ_ONLY:
        return RASR_NORMAL | RASR_READ_ONLY;
    case CG_MPU_READ_WRITE:
        return RASR_NORMAL | RASR_FULL | RASR_NO_CODE;
    case CG_MPU_CLOSED:
    default:
        return RASR_NO_CODE; /* strongly ordered: no core speculates into it */
    }
}

static void set_region(uint32_t base, uint32_t size, uint32_t left_out, uint32_t access)
{
    uint32_t log2 = 0;
    while ((1u << log2) < size) {
        log2++;
    }
    *cg_register(MPU_RNR) = next_region;
    *cg_register(MPU_RBAR) = base;
    *cg_register(MPU_RASR) = access | (left_out << 8) | ((log2 - 1u) << 1) | RASR_ENABLE;
    next_region++;
}

/* Opens the parts of the `size` bytes at `base` that [start, end) touches; the first byte behind.
 */
static uint32_t set_parts(uint32_t base, uint32_t size, cg_port_range range, uint32_t access)
{
    const uint32_t part = size / 8u;
    const uint32_t first = (range.start - base) / part;
    uint32_t last = (range.end - base + part - 1u) / part;
    last = last > 8u ? 8u : last;
    const uint32_t kept = ((1u << last) - 1u) & ~((1u << first) - 1u);
    set_region(base, size, ~kept & 0xFFu, access);
    return base + last * part;
}

/* The smallest aligned block that holds [start, end). */
static void cover_by_one(cg_port_range range, uint32_t access)
{
    uint32_t size = LEAST_WITH_PARTS;
    while (size < MOST_BYTES && (range.start & ~(size - 1u)) + size < range.end) {
        size *= 2u;
    }
    (void)set_parts(range.start & ~(size - 1u), size, range, access);
}

/* Largest part that `start` is a multiple of and that fits the range, at least 32 bytes. */
static uint32_t largest_part(cg_port_range range)
{
    uint32_t part = LEAST_WITH_PARTS / 8u;
    while (part < MOST_BYTES / 8u && (range.start & (2u * part - 1u)) == 0 &&
           2u * part <= range.end - range.start) {
        part *= 2u;
    }
    return part;
}

static void cover(cg_port_range range, uint32_t budget, uint32_t access)
{
    for (; budget > 1u && range.start < range.end; budget--) {
        const uint32_t part = largest_part(range);
        if (range.end - range.start < part) {
            break;
        }
        const uint32_t size = 8u * part;
        const cg_port_range whole = {range.start, range.end - (range.end - range.start) % part};
        range.start = set_parts(range.start & ~(size - 1u), size, whole, access);
    }
    if (range.start < range.end) {
        cover_by_one(range, access);
    }
}

/* True if another range with the same floor goes as far: this one then needs no region. */
static bool is_covered(const cg_mpu_range *ranges, uint32_t count, uint32_t index)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i == index) {
            continue;
        }
        const bool same =
            ranges[i].floor == ranges[index].floor && ranges[i].access == ranges[index].access;
        if (same && (ranges[i].end > ranges[index].end ||
                     (i < index && ranges[i].end == ranges[index].end))) {
            return true;
        }
    }
    return false;
}

static void set_ranges(const cg_mpu_range *ranges, uint32_t count, cg_mpu_access access,
                       uint32_t budget)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].access == access && !is_covered(ranges, count, i)) {
            const cg_port_range range = {ranges[i].floor, ranges[i].end};
            if (access == CG_MPU_CLOSED) { /* never rounded: these are 2^n bytes */
                set_region(range.start, range.end - range.start, 0, attributes(access));
            } else {
                cover(range, budget, attributes(access));
            }
        }
    }
}

void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count)
{
    const uint32_t available = cg_mpu_regions();
    if (available < CG_MPU_REGIONS) {
        return;
    }
    *cg_register(MPU_CTRL) = 0;
    uint32_t single = 0;
    uint32_t writable = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_covered(ranges, count, i)) {
            single += ranges[i].access != CG_MPU_READ_WRITE;
            writable += ranges[i].access == CG_MPU_READ_WRITE;
        }
    }
    if (single + writable > available) {
        return;
    }
    next_region = 0;
    set_ranges(ranges, count, CG_MPU_READ_ONLY, 1);
    set_ranges(ranges, count, CG_MPU_READ_WRITE,
               writable == 0 ? 1u : (available - single) / writable);
    set_ranges(ranges, count, CG_MPU_CLOSED, 1);
    for (; next_region < available; next_region++) {
        *cg_register(MPU_RNR) = next_region;
        *cg_register(MPU_RASR) = 0;
    }
    *cg_register(MPU_CTRL) = CTRL_ENABLE | CTRL_PRIVDEFENA;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

bool cg_mpu_add(const cg_mpu_range *range)
{
    (void)range; /* regions of 2^n bytes are seldom exact */
    return false;
}

void cg_mpu_limit_stack(uint32_t limit)
{
    (void)limit; /* the stack is the lowest part of what is open: below it the MPU closes */
}
