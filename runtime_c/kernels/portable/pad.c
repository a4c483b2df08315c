/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pad.c -- a constant around a tensor, any element type: fill, then copy the inside.
 */
#include <string.h>

#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

/* The output is aligned for its elements, so wide values are stored whole. */
static void fill(const cg_pad_params *params, void *output)
{
    if (params->value_bytes == 1) {
        memset(output, params->value & 0xFF, (size_t)params->out_bytes);
    } else if (params->value_bytes == 2) {
        cg_s16 *const to = output;
        for (int32_t i = 0; i < (params->out_bytes / 2); i++) {
            to[i] = (int16_t)params->value;
        }
    } else if (params->value_bytes == 4) {
        cg_s32 *const to = output;
        for (int32_t i = 0; i < (params->out_bytes / 4); i++) {
            to[i] = params->value;
        }
    } else {
        cg_s64 *const to = output;
        for (int32_t i = 0; i < (params->out_bytes / 8); i++) {
            to[i] = params->value;
        }
    }
}

void cg_pad(const cg_pad_params *params, const void *input, void *output)
{
    const cg_axes *const n = &params->walk.extent;
    const cg_axes *const s = &params->walk.step_bytes;
    const size_t bytes = (size_t)params->walk.block_bytes;
    const uint8_t *from = input;
    fill(params, output);
    uint8_t *const first = (uint8_t *)output + params->walk.first_bytes;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    uint8_t *to = first + (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);
                    for (int32_t i4 = 0; i4 < n->d4; i4++) {
                        memcpy(to, from, bytes);
                        to += s->d4;
                        from += bytes;
                    }
                }
            }
        }
    }
}
