/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_constants.c -- see cg_constants.h.
 */
#include "cg_constants.h"

#include "cg_crc32.h"

#define CRC_OFFSET offsetof(cg_constants_header, crc)

cg_status cg_check_constants(const void *image, uint32_t size_bytes,
                             const cg_constants_expected *expected)
{
    if (image == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    if ((uintptr_t)image % expected->alignment != 0u) {
        return CG_ERR_CONSTANTS_ALIGNMENT;
    }
    if (size_bytes != expected->size_bytes) {
        return CG_ERR_CONSTANTS_SIZE;
    }
    const cg_constants_header *const header = (const cg_constants_header *)image;
    if (header->magic != CG_CONSTANTS_MAGIC) {
        return CG_ERR_CONSTANTS_FORMAT;
    }
    if (header->abi != CG_CONSTANTS_ABI) {
        return CG_ERR_CONSTANTS_ABI;
    }
    if (header->size_bytes != size_bytes) {
        return CG_ERR_CONSTANTS_SIZE;
    }
    for (uint32_t i = 0; i < 4u; i++) {
        if (header->layout[i] != expected->layout[i]) {
            return CG_ERR_CONSTANTS_LAYOUT;
        }
    }
    const uint8_t *const bytes = (const uint8_t *)image;
    uint32_t crc = cg_crc32(0xFFFFFFFFu, bytes, CRC_OFFSET);
    crc = cg_crc32(crc, bytes + sizeof *header, (size_t)size_bytes - sizeof *header);
    return (~crc == header->crc) ? CG_OK : CG_ERR_CONSTANTS_CONTENT;
}
