/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_winograd_parts_dsp.h -- what the C and assembly parts of Winograd's convolution share.
 * Included by kernels only.
 *
 * A block is two tiles side by side: two rows by four columns of results from 4 rows by 6 columns
 * of pixels. Transformed pixels: columns of V in the order 1 2 0 3, in these pairs of channels
 * {0, 2} {1, 3} {4, 6} ..., in these rows 1 2 3 0, in these both tiles, each a pair of int16.
 */
#ifndef CG_WINOGRAD_PARTS_DSP_H
#define CG_WINOGRAD_PARTS_DSP_H

#include "cg_conv_dsp_parts.h"
#include "cg_winograd_dsp.h"

#define CG_WINOGRAD_ROWS    2 /* of results in a block */
#define CG_WINOGRAD_COLUMNS 4
#define CG_WINOGRAD_MARGIN  2 /* pixels more, in both directions */

/* winograd_parts_s8_dsp.S knows these offsets, and those of cg_winograd_job. */
typedef struct {
    const int8_t *rows[CG_WINOGRAD_ROWS + CG_WINOGRAD_MARGIN]; /* first column inside the image */
    int32_t first;    /* columns of padding in front of it: 0 or 1 */
    int32_t count;    /* columns inside; those behind are padding */
    int32_t step;     /* bytes from column to column */
    int32_t groups;   /* of four channels */
    uint32_t padding; /* twice the zero point, as a pair of int16 */
} cg_winograd_block;

typedef struct {
    const int32_t *pixels; /* transformed */
    const int32_t *stream;
    const int32_t *stream_end;
    int32_t length;   /* bytes of a column of transformed pixels: 64 a group */
    int32_t step;     /* bytes from result to result along a row */
    int32_t row_step; /* and from row to row */
    int32_t is_part;  /* not all columns, rows or channels are stored, or not by words */
    cg_tile_dsp tile; /* what requantizing needs of it */
    int32_t columns;  /* of this block */
    int32_t rows;
    const int8_t *output; /* the block's first result */
} cg_winograd_job;

/* All pixels of a block, transformed. Rows are aligned to 4 bytes. */
void cg_winograd_pixels_s8_dsp(const cg_winograd_block *block, int32_t *pixels);
/* All results of the channels of `stream`; the first one goes to `output`. */
void cg_winograd_tiles_s8_dsp(const cg_winograd_job *job, int8_t *output);
/* Of `results`, eight pixels of four channels, those that there are. */
void cg_winograd_store_s8_dsp(const cg_winograd_job *job, const int8_t *results, int8_t *output);

#endif /* CG_WINOGRAD_PARTS_DSP_H */
