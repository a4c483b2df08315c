/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_v6m_parts.h -- what the C and assembly parts of depthwise convolution share on
 * ARMv6-M. Included by kernels only.
 */
#ifndef CG_DEPTHWISE_V6M_PARTS_H
#define CG_DEPTHWISE_V6M_PARTS_H

#include "cg_conv_v6m_parts.h"
#include "cg_depthwise_v6m.h"

/* depthwise_parts_v6m.S knows the offsets of both. */

/* A run of pixels of a row of taps, of both halves of words; a step of 0 stays at one pixel. */
typedef struct {
    const int8_t *lower;
    const int8_t *upper;
    int32_t lower_step;
    int32_t upper_step;
    int32_t *pairs; /* the first word; where the words end */
    int32_t *pairs_end;
} cg_dw_run_v6m;

/* Runs [runs, runs_end), `channel` bytes behind their pixels, to words `step` bytes apart. */
void cg_dw_pair_v6m(const cg_dw_run_v6m *runs, const cg_dw_run_v6m *runs_end, int32_t step,
                    int32_t channel);

typedef struct {
    cg_tile_v6m tile;         /* pixels: the paired lines, column by column */
    int32_t *taps;            /* place for a word for each weight */
    const int32_t *lines_end; /* behind the first column of the last window plus one step */
    int32_t tap_bytes;        /* of words of a window, an even number of them */
    int32_t rest;             /* from behind a window to the next one, in bytes */
    int32_t out_step;         /* from a result to the next one */
    int32_t out_half;         /* from a result of the lower half to that of the upper one */
} cg_dw_v6m;

/* All results of a channel; the stream's next channel. The first is for windows of nine taps. */
const int32_t *cg_dw_channel9_v6m(const cg_dw_v6m *self, const int32_t *stream, int8_t *output);
const int32_t *cg_dw_channel_v6m(const cg_dw_v6m *self, const int32_t *stream, int8_t *output);

#endif /* CG_DEPTHWISE_V6M_PARTS_H */
