/* SPDX-License-Identifier: 0BSD */
/*
 * sized_data.c -- generated; do not edit. The layout of the constants.
 */
#include "sized_data.h"

#include <stddef.h>

/* clang-format off */
#define PLANNED(member, offset) \
    CG_STATIC_ASSERT(offsetof(sized_flash_pool_layout, member) == (offset), "plan moved")

PLANNED(conv0_bias, 0x000u);
PLANNED(conv0_multiplier, 0x020u);
PLANNED(conv1_bias, 0x040u);
PLANNED(conv1_multiplier, 0x060u);
PLANNED(dw2_bias, 0x080u);
PLANNED(concat3_row_bytes, 0x0a0u);
PLANNED(conv4_bias, 0x0a8u);
PLANNED(conv4_multiplier, 0x0e8u);
PLANNED(conv6_bias, 0x128u);
PLANNED(conv0_weight, 0x138u);
PLANNED(conv1_weight, 0x1f8u);
PLANNED(conv1_shift, 0x238u);
PLANNED(dw2_weight, 0x240u);
PLANNED(dw2_shift, 0x260u);
PLANNED(conv4_weight, 0x268u);
PLANNED(conv4_shift, 0x368u);
PLANNED(conv6_weight, 0x378u);
#undef PLANNED
CG_STATIC_ASSERT(sizeof(sized_flash_pool_layout) == SIZED_FLASH_POOL_SIZE, "pool size");

/* clang-format on */

/* clang-format off */
CG_STATIC_ASSERT(offsetof(struct sized_constants_image, flash) == 32u, "image moved");
CG_STATIC_ASSERT(sizeof(struct sized_constants_image) == SIZED_CONSTANTS_SIZE, "image size");
/* clang-format on */
