/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut_s8.c -- any function of one byte by a table of its 256 results.
 */
#include "cg_kernel_parts.h"

void cg_lut_s8(const int8_t *table, const void *input, void *output, int32_t count)
{
    const uint8_t *from = (const uint8_t *)input;
    int8_t *to = (int8_t *)output;
    for (; count >= 4; count -= 4) {
        to[0] = table[from[0]];
        to[1] = table[from[1]];
        to[2] = table[from[2]];
        to[3] = table[from[3]];
        from += 4;
        to += 4;
    }
    for (; count > 0; count--) {
        *to++ = table[*from++];
    }
}
