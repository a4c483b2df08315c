/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c -- decodes packed constants (cg_unpack.h): 17 to 20 instructions a byte on ARMv7-M.
 */
#include "cg_unpack.h"

enum {
    MOST_CLASSES = 16,
    TAKEN_BITS = 16 /* from the stream at a time; no code is longer */
};

typedef struct {
    uint32_t length; /* of a code, in bits */
    int32_t first;   /* code + first: the symbol's place behind the table's begin */
} unpack_class;

/* Between 0 and 15 bits more than one code may need are there whenever a code is decoded. */
const uint8_t *cg_unpack(void *to, size_t bytes, const uint8_t *packed, const uint8_t *from)
{
    unpack_class classes[MOST_CLASSES];
    const uint32_t prefix = packed[0];
    const int32_t count = (int32_t)(1u << prefix);
    int32_t place = 1 + count;
    for (int32_t i = 0; i < count; i++) {
        const uint32_t width = packed[1 + i];
        classes[i].length = prefix + width;
        classes[i].first = place - (int32_t)((uint32_t)i << width);
        place += (int32_t)(1u << width);
    }
    uint8_t *next = (uint8_t *)to;
    const uint8_t *const end = &next[bytes];
    /* The next bit of the stream is the highest one. */
    uint32_t bits = ((uint32_t)from[0] << 24) | ((uint32_t)from[1] << 16);
    int32_t spare = 0;
    from += 2;
    do {
        const unpack_class *const class = &classes[bits >> (32u - prefix)];
        const uint32_t length = class->length;
        *next = packed[(int32_t)(bits >> (32u - length)) + class->first];
        next++;
        bits <<= length;
        spare -= (int32_t)length;
        if (spare < 0) {
#if defined(__OPTIMIZE_SIZE__)
            /* Nothing: but it keeps this a branch. gcc 14 -Os made all of it conditional
               instructions, 8 more for each byte that takes nothing. */
            __asm__ volatile("");
#endif
            bits |= (((uint32_t)from[0] << 8) | from[1]) << (uint32_t)(-spare);
            spare += TAKEN_BITS;
            from += 2;
        }
    } while (next != end);
    return &from[-((spare + TAKEN_BITS) / 8)];
}
