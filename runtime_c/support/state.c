/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c -- see cg_state.h.
 */
#include "cg_state.h"

#include <string.h>

#include "cg_crc32.h"

#define FIRST_CRC 0xFFFFFFFFu

static cg_status checked_size(const cg_state *state, const void *image, uint32_t size_bytes)
{
    if (image == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    return (size_bytes == state->size_bytes) ? CG_OK : CG_ERR_STATE_SIZE;
}

cg_status cg_save_state(const cg_state *state, void *image, uint32_t size_bytes)
{
    const cg_status status = checked_size(state, image, size_bytes);
    if (status != CG_OK) {
        return status;
    }
    cg_state_header header = {.magic = CG_STATE_MAGIC, .size_bytes = size_bytes, .crc = FIRST_CRC};
    memcpy(header.layout, state->layout, sizeof header.layout);
    uint8_t *to = (uint8_t *)image + sizeof header;
    for (uint32_t i = 0; i < state->count; i++) {
        const cg_state_part *const part = &state->parts[i];
        memcpy(to, part->bytes, part->size_bytes);
        header.crc = cg_crc32(header.crc, to, part->size_bytes);
        to += part->size_bytes;
    }
    header.crc = ~header.crc;
    memcpy(image, &header, sizeof header);
    return CG_OK;
}

cg_status cg_load_state(const cg_state *state, const void *image, uint32_t size_bytes)
{
    const cg_status status = checked_size(state, image, size_bytes);
    if (status != CG_OK) {
        return status;
    }
    cg_state_header header;
    memcpy(&header, image, sizeof header);
    if (header.magic != CG_STATE_MAGIC) {
        return CG_ERR_STATE_FORMAT;
    }
    if (header.size_bytes != size_bytes) {
        return CG_ERR_STATE_SIZE;
    }
    if (memcmp(header.layout, state->layout, sizeof header.layout) != 0) {
        return CG_ERR_STATE_LAYOUT;
    }
    const uint8_t *from = (const uint8_t *)image + sizeof header;
    if (~cg_crc32(FIRST_CRC, from, (size_t)size_bytes - sizeof header) != header.crc) {
        return CG_ERR_STATE_CONTENT;
    }
    for (uint32_t i = 0; i < state->count; i++) {
        memcpy(state->parts[i].bytes, from, state->parts[i].size_bytes);
        from += state->parts[i].size_bytes;
    }
    return CG_OK;
}
