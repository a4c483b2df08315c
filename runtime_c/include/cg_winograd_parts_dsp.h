/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_winograd_parts_dsp.h -- what the C and assembly parts of Winograd's convolutions share.
 * Included by kernels only.
 *
 * A block is two tiles side by side: of F(2x2) two rows by four columns of results from 4 rows by 6
 * columns of pixels, of F(4x4) four rows by eight columns from 6 rows by 10 columns. Transformed
 * pixels: columns of V in the order 1 2 0 3 (F(4x4): 1 2 3 4 5 0), in these pairs of channels
 * {0, 2} {1, 3} {4, 6} ..., in these rows 1 2 3 0 (1 2 3 4 5 0), in these both tiles, each a pair
 * of int16.
 */
#ifndef CG_WINOGRAD_PARTS_DSP_H
#define CG_WINOGRAD_PARTS_DSP_H

#include "cg_conv_dsp_parts.h"
#include "cg_winograd_dsp.h"

/* Functions that a kernel and its row kernel share are inlined: a firmware has seldom both. */
#define WINOGRAD_INLINE static inline __attribute__((always_inline))

#define CG_WINOGRAD_MOST_ROWS 4 /* of results in a block */
#define CG_WINOGRAD_MARGIN    2 /* pixels more, in both directions */

/* The assembly knows these offsets, and those of cg_winograd_job. */
typedef struct {
    const int8_t *rows[CG_WINOGRAD_MOST_ROWS + CG_WINOGRAD_MARGIN]; /* first column inside the
                                                                       image; F(2x2): four rows */
    int32_t first;    /* columns of padding in front of it: 0 or 1 */
    int32_t count;    /* columns inside; those behind are padding */
    int32_t step;     /* bytes from column to column */
    int32_t groups;   /* of four channels */
    uint32_t padding; /* zero point times 2 (F(2x2)) or 6 (F(4x4)), as a pair of int16 */
} cg_winograd_block;

typedef struct {
    const int32_t *pixels; /* transformed */
    const int32_t *stream;
    const int32_t *stream_end;
    int32_t length;  /* bytes of a column of transformed pixels: 64 (F(4x4): 96) a group */
    int32_t step;    /* bytes from result to result along a row */
    int32_t is_part; /* not all columns, rows or channels are stored, or not by words */
    int8_t *outputs[CG_WINOGRAD_MOST_ROWS]; /* first result of each row of the block */
    cg_tile_dsp tile;                       /* what requantizing needs of it */
    int32_t columns;                        /* of this block */
    int32_t rows;
    int32_t block_columns; /* of a whole one */
    int32_t *sums;         /* F(4x4): 192 words of sums, then 32 of results */
} cg_winograd_job;

/* All pixels of a block, transformed. Rows are aligned to 4 bytes. */
void cg_winograd_pixels_s8_dsp(const cg_winograd_block *block, int32_t *pixels);
void cg_winograd4_pixels_s8_dsp(const cg_winograd_block *block, int32_t *pixels);
/* All results of the channels of `stream`, of which the first one is `channel`. */
void cg_winograd_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel);
void cg_winograd4_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel);
/* Sums of four channels by weights that cg_winograd_filters_s8_dsp transformed. */
void cg_winograd_narrow_tiles_s8_dsp(const cg_winograd_job *job, int32_t channel);
/*
 * Four result channels' weights, of `groups` groups of four image channels, as int16 pairs of U:
 * all 16 positions of a pair of image channels, then those of the next one. Returns where the next
 * weights are.
 */
const int8_t *cg_winograd_filters_s8_dsp(const int8_t *weights, int32_t groups, int32_t *pairs);
/* Stores pixels of `results`: up to four channels from `channel` on. */
void cg_winograd_store_s8_dsp(const cg_winograd_job *job, const int8_t *results, int32_t channel);

/* A layer that is computed block by block. */
typedef struct {
    const cg_conv_params *params;
    const int8_t *padding; /* a row of it */
    int8_t *patch;         /* of whole groups of channels, where the image has others */
    int32_t columns;       /* of the result */
    int32_t shift;         /* columns of padding in front of the first column that lines hold */
    int32_t width;         /* columns of lines that the results need, from the first one on */
    const int8_t
        *lines[CG_WINOGRAD_MOST_ROWS + CG_WINOGRAD_MARGIN]; /* of a band: NULL is padding */
    int8_t *results[CG_WINOGRAD_MOST_ROWS];                 /* those that there are */
    cg_winograd_block block;
    cg_winograd_job job;
} cg_winograd_layer;

/* Blocks of `rows` rows and twice as many columns; all columns of an image that is there in whole.
 */
void cg_winograd_start_s8_dsp(cg_winograd_layer *self, const cg_conv_params *params, int32_t rows);
/* Rows of results in a block. */
static inline int32_t cg_winograd_rows(const cg_winograd_layer *self)
{
    return (int32_t)((uint32_t)self->job.block_columns / 2u);
}
/*
 * Result columns [x_start, x_stop) alone, from lines whose first column is `x_origin`. Columns are
 * counted from x_start on: so are those of the rows that this returns, of the result.
 */
static inline cg_rows cg_winograd_stripe(cg_winograd_layer *self, int32_t x_origin,
                                         const cg_rows *result, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &self->params->window;
    const int32_t end = x_stop - window->pad_left + CG_WINOGRAD_MARGIN;
    cg_rows stripe = *result;
    stripe.x_origin -= x_start;
    self->columns = x_stop - x_start;
    self->shift = window->pad_left - x_start + x_origin;
    self->width = ((end < window->in.w) ? end : window->in.w) - x_origin;
    return stripe;
}
/* The lines of the band of blocks whose first result row is y; `result` is written. */
void cg_winograd_band_s8_dsp(cg_winograd_layer *self, const cg_rows *image, const cg_rows *result,
                             int32_t y);
/* Finds columns that the block at result column x of a band reads, and those inside the image. */
void cg_winograd_block_s8_dsp(cg_winograd_layer *self, int32_t x);
void cg_winograd_results_s8_dsp(cg_winograd_layer *self, int32_t x);

#endif /* CG_WINOGRAD_PARTS_DSP_H */
