/* SPDX-License-Identifier: 0BSD */
/*
 * sized_data.h -- generated; do not edit. Private to this model.
 *
 * Constant pool "flash": 952 bytes, read only, alignment 16,
 * in sized_constants.bin.
 * Equal constants were merged, which saved 60 bytes.
 */
#ifndef SIZED_DATA_H
#define SIZED_DATA_H

#include <stdint.h>

#include "sized_kernels.h"

#include "sized.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are in offset order, so the compiler lays the pool out exactly as planned. */
typedef struct {
    int32_t conv0_bias[8];        /* 0x000 */
    int32_t conv0_multiplier[8];  /* 0x020 */
    int32_t conv1_bias[8];        /* 0x040 */
    int32_t conv1_multiplier[8];  /* 0x060 */
    int32_t dw2_bias[8];          /* 0x080 */
    int32_t concat3_row_bytes[2]; /* 0x0a0 */
    int32_t conv4_bias[16];       /* 0x0a8 */
    int32_t conv4_multiplier[16]; /* 0x0e8  parts: dw2, conv6 */
    int32_t conv6_bias[4];        /* 0x128 */
    int8_t conv0_weight[192];     /* 0x138 */
    int8_t conv1_weight[64];      /* 0x1f8 */
    int8_t conv1_shift[8];        /* 0x238 */
    int8_t dw2_weight[32];        /* 0x240 */
    int8_t dw2_shift[8];          /* 0x260 */
    int8_t conv4_weight[256];     /* 0x268 */
    int8_t conv4_shift[16];       /* 0x368  parts: conv0, conv6 */
    int8_t conv6_weight[64];      /* 0x378 */
} sized_flash_pool_layout;

/* sized_constants.bin, byte by byte. */
struct sized_constants_image {
    cg_constants_header header;    /* see sized_kernels.h */
    sized_flash_pool_layout flash; /* 0x020 */
};

#ifdef __cplusplus
}
#endif

#endif /* SIZED_DATA_H */
