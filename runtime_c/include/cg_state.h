/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_state.h -- a model's state as bytes that an application keeps: through sleep, a reset, or in a
 * file. `<model>_save` and `<model>_load` call these with what the model knows of its state.
 *
 * Saved state is the header and, behind it, the parts one after the other. It may lie at any
 * address. All numbers are little-endian.
 */
#ifndef CG_STATE_H
#define CG_STATE_H

#include "cg_runtime.h"

#define CG_STATE_MAGIC 0x54534743u /* the bytes "CGST" */

typedef struct {
    uint32_t magic;
    uint32_t size_bytes; /* header and parts */
    uint32_t layout[4];  /* a hash of what the state is made of */
    uint32_t crc;        /* CRC-32 (IEEE 802.3) of all parts */
} cg_state_header;

/* Bytes of a pool that last from inference to inference. */
typedef struct {
    uint8_t *bytes;
    uint32_t size_bytes;
} cg_state_part;

/* State of a model: its parts and their size. */
typedef struct {
    const cg_state_part *parts;
    uint32_t count;
    uint32_t size_bytes; /* header and parts */
    uint32_t layout[4];
} cg_state;

/*
 * Writes the state to `image`, of which there are `size_bytes`, outside the model's pools. Returns
 * CG_OK, or CG_ERR_NULL_POINTER or CG_ERR_STATE_SIZE before anything has been written.
 */
CG_CHECK_RESULT cg_status cg_save_state(const cg_state *state, void *image, uint32_t size_bytes);

/*
 * Puts back what `cg_save_state` wrote. Returns CG_OK, or the first that does not hold of
 * CG_ERR_NULL_POINTER, CG_ERR_STATE_SIZE, _FORMAT, _LAYOUT, _CONTENT; then the state is as it was.
 */
CG_CHECK_RESULT cg_status cg_load_state(const cg_state *state, const void *image,
                                        uint32_t size_bytes);

#endif /* CG_STATE_H */
