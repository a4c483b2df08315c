/* SPDX-License-Identifier: 0BSD */
/*
 * bench_pools.c -- generated; do not edit. The pools, which an application would own.
 */
#include "cg_runtime.h"

uint8_t lasting_sram_pool[28u] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);
uint8_t lasting_ccm_pool[16u] CG_SECTION(".bss.cg.ccm") CG_ALIGNED(16);
