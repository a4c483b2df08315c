/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut_channels_s8.c -- any function of a byte and its channel: a table of 256 results a channel.
 */
#include "cg_kernel_parts.h"

void cg_lut_channels_s8(const int8_t *table, int32_t channels, const void *input, void *output,
                        int32_t count)
{
    const uint8_t *from = (const uint8_t *)input;
    int8_t *to = (int8_t *)output;
    for (int32_t pixel = 0; pixel < count; pixel += channels) {
        const int8_t *of_channel = table;
        for (int32_t channel = 0; channel < channels; channel++) {
            *to++ = of_channel[*from++];
            of_channel += 256;
        }
    }
}
