/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_v6m_parts.h -- what the C and assembly parts of the ARMv6-M kernels share. Included by
 * kernels only.
 *
 * Paired pixels: for each value k of a window the words p0[k] + (p1[k] << 16) and, in tiles of
 * four, p2[k] + (p3[k] << 16), carries between the halves and all.
 */
#ifndef CG_CONV_V6M_PARTS_H
#define CG_CONV_V6M_PARTS_H

#include "cg_conv_v6m.h"

/*
 * Added to both halves of two taps' products, so that neither is negative: their sums lie in
 * [-32640, 32768]. Halves of 16 bits hold [-CG_LANES_V6M, 65535 - CG_LANES_V6M]. Every two weights
 * add it once to an accumulator. tile_s8_v6m.S and the packing of weights know it.
 */
#define CG_LANES_V6M 32640

/* tile_s8_v6m.S knows these offsets. */
typedef struct {
    const int32_t *pixels; /* paired */
    const int32_t *stream;
    const int32_t *stream_end;
    int32_t row_bytes; /* of a channel's weights */
    int32_t middle;
    int32_t act_min;
    int32_t act_max;
    int32_t out_zero;
} cg_tile_v6m;

/*
 * All channels of four pixels. The first goes to `output`, the next two follow `step` bytes apart,
 * the fourth `last_step` bytes behind the third: 0 where it is the third once more.
 */
void cg_tile4_s8_v6m(const cg_tile_v6m *tile, int8_t *output, int32_t step, int32_t last_step);
/* All channels of two pixels, `step` bytes apart; 0: the second is the first once more. */
void cg_tile2_s8_v6m(const cg_tile_v6m *tile, int8_t *output, int32_t step);

/*
 * Requantizes sums of one channel in place, all cases: what is called for a channel whose word 3 is
 * negative. `shift` holds word 0, above its low byte their number.
 */
void cg_requantize_s8_v6m(const cg_tile_v6m *tile, int32_t *sums, int32_t multiplier,
                          uint32_t shift);

/* `count` bytes, at least 1, of each of four pixels (or two), paired to `pixels`. */
void cg_pair4_s8_v6m(const int8_t *const sources[4], int32_t *pixels, int32_t count);
void cg_pair2_s8_v6m(const int8_t *const sources[2], int32_t *pixels, int32_t count);

/*
 * Biases and weights of a group of four outputs times `count` inputs, to `sums`; where the group's
 * numbers are.
 */
const int32_t *cg_fc_sums_v6m(const int8_t *input, const int32_t *group, int32_t count,
                              int32_t sums[4]);

#endif /* CG_CONV_V6M_PARTS_H */
