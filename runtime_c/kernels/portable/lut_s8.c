/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut_s8.c -- any function of one byte by a table of its 256 results.
 */
#include "cg_kernel_parts.h"

void cg_lut_s8(const int8_t *table, const void *input, void *output, int32_t count)
{
    const uint8_t *from = (const uint8_t *)input;
    int8_t *to = (int8_t *)output;
    for (int32_t i = 0; i < count; i++) {
        to[i] = table[from[i]];
    }
}
