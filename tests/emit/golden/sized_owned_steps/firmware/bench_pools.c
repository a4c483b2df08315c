/* SPDX-License-Identifier: 0BSD */
/*
 * bench_pools.c -- generated; do not edit. The pools, which an application would own.
 */
#include "cg_runtime.h"

uint8_t sized_sram_pool[640u] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);
