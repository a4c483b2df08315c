/* SPDX-License-Identifier: 0BSD */
/*
 * mixed_data.h -- generated; do not edit. Private to this model.
 *
 * Constant pool "flash": 4 bytes, read only, alignment 16,
 * section .rodata.cg.flash.
 */
#ifndef MIXED_DATA_H
#define MIXED_DATA_H

#include <stdint.h>

#include "mixed.h"

#ifdef __cplusplus
extern "C" {
#endif

extern uint8_t mixed_sram_pool[MIXED_SRAM_POOL_SIZE];

/* Members are in offset order, so the compiler lays the pool out exactly as planned. */
typedef struct {
    float scale2_rhs[1]; /* 0x000 */
} mixed_flash_pool_layout;

extern const mixed_flash_pool_layout mixed_flash_pool;

#ifdef __cplusplus
}
#endif

#endif /* MIXED_DATA_H */
