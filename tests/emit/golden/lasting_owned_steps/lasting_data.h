/* SPDX-License-Identifier: 0BSD */
/*
 * lasting_data.h -- generated; do not edit. Private to this model.
 *
 * Constant pool "flash": 264 bytes, read only, alignment 16,
 * in lasting_constants.bin.
 * Equal constants were merged, which saved 256 bytes.
 */
#ifndef LASTING_DATA_H
#define LASTING_DATA_H

#include <stdint.h>

#include "lasting_kernels.h"

#include "lasting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are in offset order, so the compiler lays the pool out exactly as planned. */
typedef struct {
    int32_t concat2_row_bytes[2]; /* 0x000 */
    int8_t lut0_table[256];       /* 0x008  shared: lut0, lut1 */
} lasting_flash_pool_layout;

/* lasting_constants.bin, byte by byte. */
struct lasting_constants_image {
    cg_constants_header header;      /* see lasting_kernels.h */
    lasting_flash_pool_layout flash; /* 0x020 */
};

#ifdef __cplusplus
}
#endif

#endif /* LASTING_DATA_H */
