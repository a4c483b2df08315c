/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_plain.h -- elements of any type, one at a time. Included by kernels only.
 */
#ifndef CG_PLAIN_H
#define CG_PLAIN_H

#include <string.h>

#include "cg_kernels_qlinear.h"

/* Bytes of an element. */
static inline size_t cg_plain_size(int32_t type)
{
    if ((type == CG_PLAIN_S64) || (type == CG_PLAIN_U64)) {
        return 8u;
    }
    if ((type == CG_PLAIN_S16) || (type == CG_PLAIN_U16)) {
        return 2u;
    }
    return ((type == CG_PLAIN_BOOL) || (type == CG_PLAIN_S8) || (type == CG_PLAIN_U8)) ? 1u : 4u;
}

/* An integer or bool; of uint64 the same bits. */
static inline int64_t cg_plain_load(int32_t type, const uint8_t *from)
{
    const size_t size = cg_plain_size(type);
    uint64_t bits = 0u;
    for (size_t byte = size; byte > 0u; byte--) {
        bits = (bits << 8) | from[byte - 1u];
    }
    const bool is_signed =
        (type == CG_PLAIN_S8) || (type == CG_PLAIN_S16) || (type == CG_PLAIN_S32);
    const uint64_t sign = (uint64_t)1u << ((8u * size) - 1u);
    return (int64_t)((is_signed && ((bits & sign) != 0u)) ? (bits | ~(sign | (sign - 1u))) : bits);
}

/* Stores the low bits of a value, as many as its type has. */
static inline void cg_plain_store(int32_t type, int64_t value, uint8_t *to)
{
    uint64_t bits = (type == CG_PLAIN_BOOL) ? (uint64_t)(value != 0) : (uint64_t)value;
    for (size_t byte = 0u; byte < cg_plain_size(type); byte++) {
        to[byte] = (uint8_t)(bits & 0xFFu);
        bits >>= 8;
    }
}

#endif
