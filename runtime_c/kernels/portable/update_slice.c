/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_slice.c -- DYNAMIC_UPDATE_SLICE: a part of a value replaced, any element type.
 */
#include <string.h>

#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

/* Indices are clamped so that the part lies inside; `at`: bytes from the start of the output. */
static int32_t first_byte(const cg_update_params *p, const cg_s32 *starts)
{
    const int32_t rooms[5] = {p->room.d0, p->room.d1, p->room.d2, p->room.d3, p->room.d4};
    const int32_t steps[5] = {p->step_bytes.d0, p->step_bytes.d1, p->step_bytes.d2,
                              p->step_bytes.d3, p->step_bytes.d4};
    int32_t at = 0;
    for (int32_t axis = 5 - p->rank; axis < 5; axis++) {
        int32_t start = *starts;
        if (p->index_words == 2) { /* of an index beyond 32 bits the sign counts */
            const int32_t high = starts[1];
            const bool fits = high == ((start < 0) ? -1 : 0);
            start = fits ? start : ((high < 0) ? 0 : CG_S32_MAX);
        }
        at += cg_clamp_s32(start, 0, rooms[axis]) * steps[axis];
        starts += p->index_words;
    }
    return at;
}

void cg_update_slice(const cg_update_params *params, const void *input, const void *part,
                     const cg_s32 *starts, void *output)
{
    const cg_axes *const n = &params->extent;
    const cg_axes *const s = &params->step_bytes;
    const uint8_t *from = input;
    uint8_t *const to = output;
    if (from != to) { /* it may lie above */
        for (int32_t i = 0; i < params->bytes; i++) {
            to[i] = from[i];
        }
    }
    from = part;
    uint8_t *const first = &to[first_byte(params, starts)];
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    const int32_t at = (i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3);
                    memcpy(&first[at], from, (size_t)params->row_bytes);
                    from += params->row_bytes;
                }
            }
        }
    }
}
