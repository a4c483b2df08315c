/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut_s8.c -- any function of one int8 by a table of its 256 results.
 */
#include "cg_kernel_parts.h"

void cg_lut_s8(const int8_t *table, const int8_t *input, int8_t *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = table[(uint8_t)input[i]];
    }
}
