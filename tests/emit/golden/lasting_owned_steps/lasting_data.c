/* SPDX-License-Identifier: 0BSD */
/*
 * lasting_data.c -- generated; do not edit. The layout of the constants.
 */
#include "lasting_data.h"

#include <stddef.h>

/* clang-format off */
#define PLANNED(member, offset) \
    CG_STATIC_ASSERT(offsetof(lasting_flash_pool_layout, member) == (offset), "plan moved")

PLANNED(concat2_row_bytes, 0x000u);
PLANNED(lut0_table, 0x008u);
#undef PLANNED
CG_STATIC_ASSERT(sizeof(lasting_flash_pool_layout) == LASTING_FLASH_POOL_SIZE, "pool size");

/* clang-format on */

/* clang-format off */
CG_STATIC_ASSERT(offsetof(struct lasting_constants_image, flash) == 32u, "image moved");
CG_STATIC_ASSERT(sizeof(struct lasting_constants_image) == LASTING_CONSTANTS_SIZE, "image size");
/* clang-format on */
