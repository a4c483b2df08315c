/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c -- copies equal blocks of an input, visited along up to five axes, into a dense output.
 */
#include <string.h>

#include "cg_kernel_parts.h"

/* n blocks, `step` bytes apart in the input. */
static uint8_t *gather_row(uint8_t *to, const uint8_t *from, int32_t step, int32_t block_bytes,
                           int32_t n)
{
    if (block_bytes == 1) { /* int8 elements one by one: no call per byte */
        for (int32_t i = 0; i < n; i++) {
            *to++ = *from;
            from += step;
        }
        return to;
    }
    for (int32_t i = 0; i < n; i++) {
        memcpy(to, from, (size_t)block_bytes);
        to += block_bytes;
        from += step;
    }
    return to;
}

void cg_gather(const cg_block_walk *params, const void *input, void *output)
{
    const cg_axes *const n = &params->extent;
    const cg_axes *const s = &params->step_bytes;
    const uint8_t *const first = (const uint8_t *)input + params->first_bytes;
    uint8_t *to = output;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    const int32_t at = (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);
                    to = gather_row(to, first + at, s->d4, params->block_bytes, n->d4);
                }
            }
        }
    }
}
