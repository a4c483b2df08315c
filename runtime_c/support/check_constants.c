/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_constants.c -- see cg_constants.h.
 */
#include "cg_constants.h"

#define CRC_OFFSET offsetof(cg_constants_header, crc)

/* CRC-32, reflected, of the 16 values of half a byte: 64 bytes of table, two look-ups a byte. */
static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
        0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
        0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return crc;
}

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
    uint32_t crc = crc_of(0xFFFFFFFFu, bytes, CRC_OFFSET);
    crc = crc_of(crc, bytes + sizeof *header, (size_t)size_bytes - sizeof *header);
    return (~crc == header->crc) ? CG_OK : CG_ERR_CONSTANTS_CONTENT;
}
