/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_rv32_parts.h -- what the C and assembly parts of the RV32 kernels share. Included by kernels
 * only.
 *
 * Requantization of a channel takes four words: twice the bias, twice the multiplier m (unsigned),
 * offset, shift. With s the shift to the right, 1 to 21, the word of the shift is s + 1 and the
 * offset 1 + 2^s + out_zero * 2^(s + 1). A sum a is less than 2^29 either way. MULHSU of 2a and 2m
 * is y = floor(2 a m / 2^31), TFLite's first rounding is (y + 1) >> 1, and its second one makes of
 * that (y + 1 + 2^s - (y < 0 ? 2 : 0)) >> (s + 1), for halves go away from zero.
 */
#ifndef CG_RV32_PARTS_H
#define CG_RV32_PARTS_H

#include "cg_kernels_rv32.h"

/* A result from twice a sum with its bias. */
static inline int8_t cg_result_rv32(int32_t sum2, const int32_t *channel,
                                    const cg_range_rv32 *range)
{
    const int32_t y = (int32_t)(((int64_t)sum2 * (uint32_t)channel[1]) >> 32);
    const int32_t scaled = (y - ((y < 0) ? 2 : 0) + channel[2]) >> channel[3];
    const int32_t raised = (scaled < range->act_min) ? range->act_min : scaled;
    return (int8_t)((raised > range->act_max) ? range->act_max : raised);
}

/*
 * All channels of six packed pixels, whose results lie `step` bytes apart from `output` on.
 * cg_conv_tile_rv32.inc knows the layout of a cg_products_rv32.
 */
void cg_conv_tile6_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels, int8_t *output,
                           int32_t step, const int8_t *stream);
void cg_conv_tile6_least_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels,
                                 int8_t *output, int32_t step, const int8_t *stream);
void cg_conv_tile6_chunked_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels,
                                   int8_t *output, int32_t step, const int8_t *stream);

/* All channels of three pixels, each of which may be another one's twin. */
void cg_conv_tile3_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels,
                           int8_t *const *outputs, const int8_t *stream);
void cg_conv_tile3_least_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels,
                                 int8_t *const *outputs, const int8_t *stream);
void cg_conv_tile3_chunked_s8_rv32(const cg_products_rv32 *products, const int32_t *pixels,
                                   int8_t *const *outputs, const int8_t *stream);

/* `count` values of each of six pixels (of three) packed: 16 bytes (8) a value. */
void cg_gather6_s8_rv32(const int8_t *const *from, int32_t *pixels, int32_t count);
void cg_gather3_s8_rv32(const int8_t *const *from, int32_t *pixels, int32_t count);

/*
 * Rows of taps of 3x3 windows side by side, of C channels: planes of C times two words, as
 * convolutions multiply them. Of six pixels plane j has, of each channel, columns j, j + 2, j + 4:
 * pixels 0, 2, 4 read planes 0 to 2, pixels 1, 3, 5 planes 1 to 3. Of three pixels plane j has
 * columns j, j + 1, j + 2. cg_conv3x3_rv32.inc knows these offsets.
 */
typedef struct {
    const int32_t *rows[3];
    int32_t plane_bytes; /* 8 * C */
} cg_taps_rv32;

/* Channels [0, channels) of eight columns (of five), each at its own address, packed to planes. */
void cg_pack6_s8_rv32(const int8_t *const *columns, int32_t channels, int32_t *planes);
void cg_pack3_s8_rv32(const int8_t *const *columns, int32_t channels, int32_t *planes);

/* All channels of six pixels side by side; results lie `step` bytes apart from `output` on. */
void cg_conv3x3_tile6_s8_rv32(const cg_products_rv32 *products, const cg_taps_rv32 *taps,
                              int8_t *output, int32_t step, const int8_t *stream);

/* All channels of three pixels. Results are stored in order: the last one stays. */
void cg_conv3x3_tile3_s8_rv32(const cg_products_rv32 *products, const cg_taps_rv32 *taps,
                              int8_t *const *outputs, const int8_t *stream);

/*
 * A row of results from three rows that lie by groups of four channels, each group one word a
 * column. cg_depthwise3x3_rv32.inc knows these offsets.
 */
typedef struct {
    const int8_t *rows[3];
    const int16_t *stream;
    int32_t channels;
    int32_t fours;      /* bytes of a row that results by four walk over */
    int32_t tail;       /* results behind them */
    int32_t back;       /* from behind a channel's last column to the next channel's first one */
    int32_t back_group; /* to the first one of the next group */
    int32_t step;       /* bytes from a result of a channel to the next */
    int32_t out_back;   /* from behind the last one to the next channel's first one */
    cg_range_rv32 range;
} cg_depthwise_rows_rv32;

/*
 * Two rows of results of stride 1 from four rows that lie two by two: by groups of four channels,
 * of each column a word of the upper row, then one of the lower. cg_depthwise3x3_pairs_rv32.inc
 * knows these offsets.
 */
typedef struct {
    const int8_t *pairs[2];
    const int16_t *stream;
    int32_t channels;
    int32_t fours;    /* bytes of a pair that results by four walk over */
    int32_t tail;     /* results behind them */
    int32_t back;     /* from behind a channel's last column to the next channel's first one */
    int32_t group;    /* added to it, where the next channel is another group's */
    int32_t below;    /* bytes from a result to the one below; 0: only the upper row's stay */
    int32_t above;    /* from a result of the upper row to the next one below */
    int32_t out_back; /* from behind the last one to the next channel's first one */
    cg_range_rv32 range;
} cg_depthwise_pairs_rv32;

/*
 * Eight channels, `eights` times, of `columns` columns of a row, one at least: from whole words,
 * `step` bytes from a column to the next, to one of two rows whose groups lie `group` bytes apart.
 */
void cg_keep_pairs_s8_rv32(int8_t *to, int32_t group, const int8_t *from, int32_t step,
                           int32_t columns, int32_t eights);

void cg_depthwise3x3_pairs_rv32(const cg_depthwise_pairs_rv32 *pairs, int8_t *output);
void cg_depthwise3x3_least_pairs_rv32(const cg_depthwise_pairs_rv32 *pairs, int8_t *output);

void cg_depthwise3x3_row1_rv32(const cg_depthwise_rows_rv32 *rows, int8_t *output);
void cg_depthwise3x3_row2_rv32(const cg_depthwise_rows_rv32 *rows, int8_t *output);
void cg_depthwise3x3_least_row1_rv32(const cg_depthwise_rows_rv32 *rows, int8_t *output);
void cg_depthwise3x3_least_row2_rv32(const cg_depthwise_rows_rv32 *rows, int8_t *output);

/*
 * Four tiles side by side, transformed, of all `channels`: by channel, position, tile. `lines` are
 * where their first column is in four rows of the image; a column is `channels` bytes.
 */
void cg_winograd_pixels_s8_rv32(const int8_t *const *lines, cg_s16 *pixels, int32_t channels);
/*
 * Products of four tiles and four result channels, summed over channels of the image, four by four:
 * of each of 16 positions `sums` gets, by result channel, those of the four tiles.
 */
void cg_winograd_products_s8_rv32(const cg_s16 *pixels, const int16_t *filters, int32_t *sums,
                                  int32_t channels);

/* winograd_parts_s8_rv32.S knows these offsets. */
typedef struct {
    const int32_t *sums;
    const int32_t *channels;
    int8_t *output;
    int32_t step;    /* bytes from a result to the next of its row */
    int32_t line;    /* from a row to the next */
    int32_t columns; /* results that are stored, 1 to 8 */
    int32_t rows;    /* 1 or 2 */
    cg_range_rv32 range;
} cg_winograd_results_rv32;

/* The results of four channels. */
void cg_winograd_results_s8_rv32(const cg_winograd_results_rv32 *results);

/* Sums of sixteen outputs, of four, of one. */
void cg_fc_group16_s8_rv32(const int8_t *input, int32_t in_len, const int8_t *weights,
                           int32_t *sums);
void cg_fc_group4_s8_rv32(const int8_t *input, int32_t in_len, const int8_t *weights,
                          int32_t *sums);
void cg_fc_group1_s8_rv32(const int8_t *input, int32_t in_len, const int8_t *weights,
                          int32_t *sums);

#endif /* CG_RV32_PARTS_H */
