/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_zve32x.h -- kernels for RV32IM with vectors of integers, whatever length these have:
 * bit-equal to cg_conv2d_s8 and cg_depthwise_conv2d_s8. Vectors hold channels. Tables of words
 * start at multiples of 4. Shifts to the right are 1 to 31.
 */
#ifndef CG_KERNELS_ZVE32X_H
#define CG_KERNELS_ZVE32X_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `channels`: all biases, then all multipliers, then all shifts to the right. */
typedef struct {
    const int8_t *weights; /* of each value of a window (or tap) one of each result channel */
    const int32_t *channels;
    int32_t values;  /* of a window */
    int32_t outputs; /* channels of the result */
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
} cg_products_zve32x;

typedef struct {
    cg_window window; /* one group, dilation_w 1 */
    cg_products_zve32x products;
    int32_t in_zero;
    int32_t pixels; /* at a time: 3 of vectors of four registers, or 6 of two */
} cg_conv_params_zve32x;

/*
 * `pixels` results of a row at a time, those that are left one by one. Workspace: the rows and
 * columns of the image that they read. Overlap: these are read before the first result of them is
 * written. Where window and strides are 1, all pixels of all images are one row.
 */
void cg_conv2d_s8_zve32x(const cg_conv_params_zve32x *params, void *workspace, const int8_t *input,
                         int8_t *output);
void cg_conv2d_s8_zve32x_row(const cg_conv_params_zve32x *params, void *workspace,
                             const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                             int32_t x_stop);

/*
 * 3x3, stride 1 or 2 both ways, multiplier 1. Two weights of a channel that are neighbours, the
 * first and second, third and fourth, and so on, are not both -128. Biases have the image's zero
 * point folded in.
 */
typedef struct {
    cg_window window;
    cg_products_zve32x products;
    int32_t in_zero;
    int32_t group; /* channels at a time */
} cg_depthwise_params_zve32x;

/*
 * Row by row. Workspace: three rows of a group's channels, (out.w - 1) * stride_w + 3 pixels each.
 * Overlap: with all channels in one group each row of the image is read once, before the row of
 * results that needs it first; else in place alone. Blocks have one group.
 */
void cg_depthwise3x3_s8_zve32x(const cg_depthwise_params_zve32x *params, void *workspace,
                               const int8_t *input, int8_t *output);
void cg_depthwise3x3_s8_zve32x_row(const cg_depthwise_params_zve32x *params, void *workspace,
                                   const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                   int32_t x_stop);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_ZVE32X_H */
