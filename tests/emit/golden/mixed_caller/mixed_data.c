/* SPDX-License-Identifier: 0BSD */
/*
 * mixed_data.c -- generated; do not edit. Weights, biases, tables.
 */
#include "mixed_data.h"

#include <stddef.h>

/* clang-format off */
#define PLANNED(member, offset) \
    CG_STATIC_ASSERT(offsetof(mixed_flash_pool_layout, member) == (offset), "plan moved")

PLANNED(scale2_rhs, 0x000u);
#undef PLANNED
CG_STATIC_ASSERT(sizeof(mixed_flash_pool_layout) == MIXED_FLASH_POOL_SIZE, "pool size");

const mixed_flash_pool_layout mixed_flash_pool CG_SECTION(".rodata.cg.flash") CG_ALIGNED(16) = {
    .scale2_rhs = {
        0.1f,
    },
};
/* clang-format on */
