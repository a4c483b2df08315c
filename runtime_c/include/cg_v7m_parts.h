/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_v7m_parts.h -- what the C and assembly parts of the ARMv7-M kernels share. Included by kernels
 * only.
 *
 * Requantization of a channel has a multiplier m, an offset and a shift; s is the shift to the
 * right.
 *
 * Short form, bit 30 of the shift is clear: s is 2 to 24, the low byte is s - 1, and the offset is
 * 2^(s - 2) + out_zero * 2^(s - 1). A result is the 64-bit sum (offset : 0x3FFFFFFF) + sum * m,
 * shifted by 32 + s - 1 and clamped to int8. Below zero 2^31 - 1 is subtracted first. That is both
 * roundings of TFLite in one: the first one's half is 2^30, the second one's 2^(30 + s). Halves go
 * away from zero, so 2^31 is subtracted below it. Above zero the start is short of 1. It would
 * count only where sum * m + 2^30 is a multiple of 2^31, which the packing excludes.
 *
 * Long form, bit 30 is set: the low byte is s, or the shift to the left if bit 6 is set. There is
 * no offset.
 */
#ifndef CG_V7M_PARTS_H
#define CG_V7M_PARTS_H

#include "cg_kernels_v7m.h"

/*
 * Requantizes sums of one channel in place, all cases. `shift`: the channel's word in its lowest
 * byte, above that how many sums there are.
 */
void cg_requantize_s8_v7m(const cg_range_v7m *range, int32_t *sums, int32_t multiplier,
                          uint32_t shift);

/* conv_tile_s8_v7m.S knows these offsets. */
typedef struct {
    const int32_t *pixels;
    const int8_t *weights;
    const int32_t *channels;
    const cg_range_v7m *range;
} cg_tile_v7m;

/*
 * All channels of four pixels. The first goes to `output`, the next two follow `step` bytes apart,
 * the fourth `last_step` bytes behind the third: 0 where it is the third once more.
 */
void cg_conv_tile4_s8_v7m(const cg_tile_v7m *tile, int8_t *output, int32_t step, int32_t last_step);
/* All channels of two pixels, `step` bytes apart. */
void cg_conv_tile2_s8_v7m(const cg_tile_v7m *tile, int8_t *output, int32_t step);

/* `count` values of four pixels (of two), `step` bytes apart, the last one `last_step`, packed. */
void cg_gather4_s8_v7m(const int8_t *source, int32_t *pixels, int32_t count, int32_t step,
                       int32_t last_step);
void cg_gather2_s8_v7m(const int8_t *source, int32_t *pixels, int32_t count, int32_t step);

/* depthwise_block_s8_v7m.S knows these offsets. */
typedef struct {
    const int8_t *weights;
    const int32_t *channels;
    const int8_t *const *taps; /* of each tap where it is for each pixel of the block */
    int32_t count;             /* of taps */
    int32_t step;              /* bytes from a pixel of the result to the next */
    int32_t last_step;         /* from the first to the last of four, or of two */
    const cg_range_v7m *range;
} cg_block_v7m;

/* Four pixels, two, one; the taps' addresses are `first` bytes further. */
void cg_depthwise4_s8_v7m(const cg_block_v7m *block, int8_t *output, int32_t first);
void cg_depthwise2_s8_v7m(const cg_block_v7m *block, int8_t *output, int32_t first);
void cg_depthwise1_s8_v7m(const cg_block_v7m *block, int8_t *output, int32_t first);

/* Adds to the `sums` of eight outputs, of four, of one: their first values are there. */
void cg_fc_group8_s8_v7m(const int8_t *input, int32_t in_len, const int8_t *weights, int32_t *sums);
void cg_fc_group4_s8_v7m(const int8_t *input, int32_t in_len, const int8_t *weights, int32_t *sums);
void cg_fc_group1_s8_v7m(const int8_t *input, int32_t in_len, const int8_t *weights, int32_t *sums);

/* Requantizes `count` sums, each by its three words. */
void cg_fc_finish_s8_v7m(const int32_t *words, int32_t *sums, int8_t *output, int32_t count,
                         const cg_range_v7m *range);

/* Addresses in a block's `taps`, which start on words: pixels of a window one after the other. */
typedef const int8_t *CG_MAY_ALIAS cg_tap_address;

#endif /* CG_V7M_PARTS_H */
