/* SPDX-License-Identifier: 0BSD */
/*
 * counter_data.h -- generated; do not edit. Private to this model.
 *
 * Constant pool "flash": 264 bytes, read only, alignment 16,
 * section .rodata.cg.flash.
 * Equal constants were merged, which saved 256 bytes.
 */
#ifndef COUNTER_DATA_H
#define COUNTER_DATA_H

#include <stdint.h>

#include "counter.h"

#ifdef __cplusplus
extern "C" {
#endif

extern uint8_t counter_sram_pool[COUNTER_SRAM_POOL_SIZE];
extern uint8_t counter_ccm_pool[COUNTER_CCM_POOL_SIZE];

/* Members are in offset order, so the compiler lays the pool out exactly as planned. */
typedef struct {
    int32_t concat2_row_bytes[2]; /* 0x000 */
    int8_t lut0_table[256];       /* 0x008  shared: lut0, lut1 */
} counter_flash_pool_layout;

extern const counter_flash_pool_layout counter_flash_pool;

#ifdef __cplusplus
}
#endif

#endif /* COUNTER_DATA_H */
