/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_crc32.h -- the sum over bytes that images carry. It finds what went wrong by accident; it is
 * no signature.
 */
#ifndef CG_CRC32_H
#define CG_CRC32_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32 (IEEE 802.3), reflected, by half bytes: a table of 64 bytes, two look-ups a byte. Begin
 * with 0xFFFFFFFF, give each part in turn, and complement what comes out.
 */
static inline uint32_t cg_crc32(uint32_t crc, const uint8_t *bytes, size_t count)
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

#endif /* CG_CRC32_H */
