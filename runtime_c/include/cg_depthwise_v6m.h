/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_v6m.h -- depthwise convolution for cores that have MULS and nothing longer (ARMv6-M;
 * also Armv8-M Baseline): parameters, prototypes, contracts.
 *
 * Bit-equal to cg_depthwise_conv2d_s8. Two results of a channel share words: those of two rows, or
 * in a single row those of its left and of its right part. The pixels of both windows are paired
 * once, then one MULS by a weight makes two products (kernels/v6m/depthwise_parts_v6m.S).
 */
#ifndef CG_DEPTHWISE_V6M_H
#define CG_DEPTHWISE_V6M_H

#include "cg_conv_v6m.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `stream` holds for each channel of the result its bias, kernel_h * kernel_w weights (int8, column
 * by column of the window, padded with zeros to a multiple of 4) and its numbers, as
 * cg_conv_weights_v6m says, but biases take nothing back. No two weights that follow each other,
 * the first of them an even one, are both -128.
 */
typedef struct {
    cg_window window;
    const int32_t *stream;
    const int8_t *padding; /* in.c zero points */
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t middle; /* (2 * out_zero + 1) << 23 */
} cg_dw_v6m_params;

/*
 * Dilation 1 from column to column. Workspace, aligned to 4 bytes, for `results` that are paired at
 * a time (the columns of the result, in cg_depthwise_s8_v6m_row half of them, rounded up): a
 * cg_dw_run_v6m (24 bytes) for each row of taps, in cg_depthwise_s8_v6m_row three of them; a word
 * for each weight, a multiple of 4; kernel_h words for each of (results - 1) * stride_w + kernel_w
 * columns; one word more where the number of weights is odd.
 * Overlap: of each two rows (or, in cg_depthwise_s8_v6m_row, of a row) all windows of a channel are
 * read, then its results are written.
 */
void cg_depthwise_s8_v6m(const cg_dw_v6m_params *params, void *workspace, const int8_t *input,
                         int8_t *output);
/* Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. */
void cg_depthwise_s8_v6m_row(const cg_dw_v6m_params *params, void *workspace, const cg_rows *input,
                             int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

/*
 * Stride and multiplier 1, a result as large as the image, dilation 1, at most kernel_h - 2 rows of
 * padding above it (none where kernel_h is 1): the result replaces the image in its bytes.
 * Workspace as of cg_depthwise_s8_v6m.
 */
void cg_depthwise_in_place_s8_v6m(const cg_dw_v6m_params *params, void *workspace, int8_t *image);

#ifdef __cplusplus
}
#endif

#endif /* CG_DEPTHWISE_V6M_H */
