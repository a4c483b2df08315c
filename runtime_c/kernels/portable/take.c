/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c -- copies the blocks of a tensor that indices choose, any element type.
 */
#include <string.h>

#include "cg_kernel_parts.h"

/* Begin of the block of one place; `index` is its first. */
static size_t block_begin(const cg_take_params *params, const cg_s32 *index)
{
    const int32_t extents[5] = {params->extent.d0, params->extent.d1, params->extent.d2,
                                params->extent.d3, params->extent.d4};
    const int32_t steps[5] = {params->step_bytes.d0, params->step_bytes.d1, params->step_bytes.d2,
                              params->step_bytes.d3, params->step_bytes.d4};
    int32_t at = 0;
    for (int32_t axis = 5 - params->depth; axis < 5; axis++) {
        at += cg_clamp_s32(*index, 0, extents[axis] - 1) * steps[axis];
        index += params->index_words;
    }
    return (size_t)at;
}

void cg_take(const cg_take_params *params, const void *values, const cg_s32 *indices, void *output)
{
    const uint8_t *from = values;
    uint8_t *to = output;
    const size_t bytes = (size_t)params->block_bytes;
    const int32_t words = params->depth * params->index_words;
    for (int32_t batch = 0; batch < params->batches; batch++) {
        for (int32_t group = 0; group < params->groups; group++) {
            for (int32_t i = 0; i < params->count; i++) {
                memcpy(to, from + block_begin(params, &indices[i * words]), bytes);
                to += bytes;
            }
            from += params->group_bytes;
        }
        indices += params->count * words;
    }
}
