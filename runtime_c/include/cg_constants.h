/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_constants.h -- images of constants that an application hands over at run time
 * (`--constants external`): their header, and the check that code makes before it uses one.
 *
 * An image is the header and, behind it, the constants as <model>_data.h lays them out. All numbers
 * are little-endian.
 */
#ifndef CG_CONSTANTS_H
#define CG_CONSTANTS_H

#include "cg_runtime.h"

#define CG_CONSTANTS_MAGIC 0x4B434743u /* the bytes "CGCK" */
#define CG_CONSTANTS_ABI   1u          /* version of this header */

typedef struct {
    uint32_t magic;
    uint32_t abi;
    uint32_t size_bytes; /* of the whole image */
    uint32_t layout[4];  /* a hash of the code that may use it */
    uint32_t crc;        /* CRC-32 (IEEE 802.3) of every other byte of the image */
} cg_constants_header;

/* The image of constants that generated code was made for. */
typedef struct {
    uint32_t size_bytes;
    uint32_t alignment; /* bytes of which the image's address is a multiple */
    uint32_t layout[4];
} cg_constants_expected;

/*
 * Checks that the code can use `image`, of `size_bytes`. Returns CG_OK, or the first error of
 * CG_ERR_NULL_POINTER, CG_ERR_CONSTANTS_ALIGNMENT, _SIZE, _FORMAT,
 * _ABI, _LAYOUT, _CONTENT. Nothing behind `size_bytes` is read.
 */
CG_CHECK_RESULT cg_status cg_check_constants(const void *image, uint32_t size_bytes,
                                             const cg_constants_expected *expected);

#endif /* CG_CONSTANTS_H */
