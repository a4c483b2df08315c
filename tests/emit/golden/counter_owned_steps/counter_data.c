/* SPDX-License-Identifier: 0BSD */
/*
 * counter_data.c -- generated; do not edit. The layout of the constants.
 */
#include "counter_data.h"

#include <stddef.h>

/* clang-format off */
#define PLANNED(member, offset) \
    CG_STATIC_ASSERT(offsetof(counter_flash_pool_layout, member) == (offset), "plan moved")

PLANNED(concat2_row_bytes, 0x000u);
PLANNED(lut0_table, 0x008u);
#undef PLANNED
CG_STATIC_ASSERT(sizeof(counter_flash_pool_layout) == COUNTER_FLASH_POOL_SIZE, "pool size");

/* clang-format on */

/* clang-format off */
CG_STATIC_ASSERT(offsetof(struct counter_constants_image, flash) == 32u, "image moved");
CG_STATIC_ASSERT(sizeof(struct counter_constants_image) == COUNTER_CONSTANTS_SIZE, "image size");
/* clang-format on */
