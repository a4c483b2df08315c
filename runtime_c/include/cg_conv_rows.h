/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_rows.h -- rows of results as int8 convolutions that pack their windows see them (DSP,
 * ARMv7-M, ARMv6-M). Included by kernels only.
 */
#ifndef CG_CONV_ROWS_H
#define CG_CONV_ROWS_H

#include "cg_kernel_parts.h"

/* A row of results: which rows of taps are inside, and where they are. */
typedef struct {
    cg_taps taps;
    cg_tap_rows rows;
    int32_t is_inside; /* no row of taps lies in the padding */
} cg_conv_row;

/* The row of taps `ky`, or NULL if it lies in the padding. */
static inline const int8_t *cg_tap_line(const cg_conv_row *row, int32_t ky)
{
    if ((ky < row->taps.first) || (ky >= row->taps.stop)) {
        return NULL;
    }
    const int32_t ring = (ky >= row->rows.wrap) ? row->rows.ring_bytes : 0;
    return &row->rows.first[((ky - row->taps.first) * row->rows.step) - ring];
}

/* Window and strides 1, a result as large as the image: all pixels, of all images, are one row. */
static inline int32_t cg_is_pointwise(const cg_window *window)
{
    return ((window->kernel_h * window->kernel_w) == 1) && (window->stride_h == 1) &&
           (window->stride_w == 1) && (window->out.h == window->in.h) &&
           (window->out.w == window->in.w);
}

#endif /* CG_CONV_ROWS_H */
