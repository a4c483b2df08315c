/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_rv32.h -- kernels for RV32IM: bit-equal to cg_conv2d_s8, cg_depthwise_conv2d_s8 and
 * cg_fully_connected_s8. Workspaces and tables of words start at multiples of 4; arguments too
 * where a kernel says so. No access is unaligned.
 */
#ifndef CG_KERNELS_RV32_H
#define CG_KERNELS_RV32_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t act_min;
    int32_t act_max;
} cg_range_rv32;

/* Words of a channel's requantization: cg_rv32_parts.h. */
#define CG_CHANNEL_WORDS_RV32 4

/* ---- convolution ------------------------------------------------------------------------ */

/*
 * Three pixels p, q, r lie in two words, p + q * 2^21 and r + q * 2^10, so that two products make
 * three. Sums begin at `offset`, which is at least what the lowest one is below zero, and stay
 * below 2^21: all values of a window at once, or in chunks, as the weights have it.
 *
 * K = kernel_h * kernel_w * in.c weights a channel. `stream`: of each four channels K times the
 * weights of all four, then CG_CHANNEL_WORDS_RV32 words of each; of each channel that is left K
 * weights, filled up to a multiple of 4 bytes, and its words. Biases are less by the offset of each
 * chunk.
 */
typedef struct {
    int32_t values;  /* K */
    int32_t fours;   /* of channels */
    int32_t singles; /* channels behind them */
    uint32_t start1; /* offset + offset * 2^21 */
    uint32_t start2; /* offset + offset * 2^10 */
    cg_range_rv32 range;
    int32_t first; /* values of the first chunk */
    int32_t chunk; /* of each further one, a multiple of 8 */
} cg_products_rv32;

typedef struct {
    cg_window window; /* one group */
    cg_products_rv32 products;
    const int8_t *stream;
    const int8_t *pad; /* in.c times the image's zero point */
} cg_conv_params_rv32;

/*
 * Six pixels in row-major order at a time. Workspace: 16 * K bytes. Overlap: the windows of six
 * pixels (of all images, where window and strides are 1) are read before the first result of them
 * is written. least: act_min is the zero point of the result; chunked: several chunks.
 */
void cg_conv2d_s8_rv32(const cg_conv_params_rv32 *params, void *workspace, const int8_t *input,
                       int8_t *output);
void cg_conv2d_s8_rv32_row(const cg_conv_params_rv32 *params, void *workspace, const cg_rows *input,
                           int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);
void cg_conv2d_least_s8_rv32(const cg_conv_params_rv32 *params, void *workspace,
                             const int8_t *input, int8_t *output);
void cg_conv2d_least_s8_rv32_row(const cg_conv_params_rv32 *params, void *workspace,
                                 const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                 int32_t x_stop);
void cg_conv2d_chunked_s8_rv32(const cg_conv_params_rv32 *params, void *workspace,
                               const int8_t *input, int8_t *output);
void cg_conv2d_chunked_s8_rv32_row(const cg_conv_params_rv32 *params, void *workspace,
                                   const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                   int32_t x_stop);

/* ---- 3x3 convolution, stride 1 ------------------------------------------------------------ */

/*
 * A cg_conv_params_rv32 whose `products` count by rows of taps: `values` is 3 * in.c, `first` is 3,
 * or 1 where the other two are a chunk of their own. Result channels are a multiple of four. Rows
 * of the image are packed once and kept. A row of results has a tile of each six pixels and one
 * more where some are left; of four or five the last six once more.
 *
 * Workspace: 96 * in.c bytes for each tile of a row, 72 for one of three pixels; in blocks 96.
 * Overlap: each row of the image is read once, before the row of results that needs it first.
 */
void cg_conv3x3_s8_rv32(const cg_conv_params_rv32 *params, void *workspace, const int8_t *input,
                        int8_t *output);
void cg_conv3x3_s8_rv32_row(const cg_conv_params_rv32 *params, void *workspace,
                            const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                            int32_t x_stop);

/* ---- 3x3 convolution by Winograd --------------------------------------------------------- */

/*
 * F(2x2, 3x3) in integers: with pixels d and a filter g, V = B' d B, U = G g G', results =
 * A' (sum over channels of U * V) A; B' = {1 0 -1 0} {0 1 1 0} {0 -1 1 0} {0 1 0 -1}, A' = {1 1 1
 * 0} {0 1 -1 -1}, G = {2 0 0} {1 1 1} {1 -1 1} {0 0 2}, twice Winograd's. So sums are four times
 * the convolution's, and nothing is rounded.
 *
 * `filters`: of each four result channels the 16 positions of U, in each the channels of the image,
 * up to a multiple of four, in each of these the four result channels. `channels`: of each result
 * channel CG_CHANNEL_WORDS_RV32 words, with four times the bias and the multiplier as it is.
 */
typedef struct {
    cg_window window; /* 3x3, stride and dilation 1, one group, out.c a multiple of 4 */
    const int16_t *filters;
    const int32_t *channels;
    int32_t in_zero;
    cg_range_rv32 range;
} cg_winograd_params_rv32;

/*
 * Two rows by eight columns of the result at a time. Workspace: 1024 bytes; 128 for each channel of
 * the image, up to a multiple of four; four rows of the image that are by 2 wider than the result,
 * up to a multiple of eight columns. Overlap: each row of the image is read once, before the first
 * row of results that needs it.
 */
void cg_winograd_s8_rv32(const cg_winograd_params_rv32 *params, void *workspace,
                         const int8_t *input, int8_t *output);

/* ---- depthwise convolution -------------------------------------------------------------- */

/*
 * 3x3, stride 1 or 2 both ways, multiplier 1. `stream`: of each channel twice its nine weights and
 * a zero, 16 bits each, then CG_CHANNEL_WORDS_RV32 words.
 */
#define CG_DEPTHWISE_HALVES_RV32 18

typedef struct {
    cg_window window;
    const int16_t *stream;
    int32_t in_zero;
    cg_range_rv32 range;
    int32_t group; /* channels at a time, all of them or a multiple of four */
} cg_depthwise_params_rv32;

/*
 * Row by row, of stride 1 two rows at a time. Workspace: three rows (of stride 1 four, but in
 * blocks) of ((out.w - 1) * stride_w + 3) words for each four channels of a group. Overlap: with
 * all channels in one group each row of the image is read once, before the rows of results that
 * need it first; else in place alone. Blocks have one group.
 * least: act_min is the zero point of the result.
 */
void cg_depthwise3x3_s8_rv32(const cg_depthwise_params_rv32 *params, void *workspace,
                             const int8_t *input, int8_t *output);
void cg_depthwise3x3_s8_rv32_row(const cg_depthwise_params_rv32 *params, void *workspace,
                                 const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                 int32_t x_stop);
void cg_depthwise3x3_least_s8_rv32(const cg_depthwise_params_rv32 *params, void *workspace,
                                   const int8_t *input, int8_t *output);
void cg_depthwise3x3_least_s8_rv32_row(const cg_depthwise_params_rv32 *params, void *workspace,
                                       const cg_rows *input, int8_t *output, int32_t y,
                                       int32_t x_start, int32_t x_stop);

/* ---- fully connected, one row ----------------------------------------------------------- */

/*
 * Outputs by groups of sixteen, then of four, then singles. `weights`: of each group one weight of
 * each output, input after input. `channels`: CG_CHANNEL_WORDS_RV32 words of each output.
 */
typedef struct {
    const int8_t *weights;
    const int32_t *channels;
    int32_t in_len;
    int32_t out_len;
    cg_range_rv32 range;
} cg_fc_params_rv32;

/* The whole input is read for each group before its outputs are written. */
void cg_fully_connected_s8_rv32(const cg_fc_params_rv32 *params, const int8_t *input,
                                int8_t *output);

/* ---- addition --------------------------------------------------------------------------- */

/*
 * (lhs * lhs_factor + rhs * rhs_factor + offset) >> shift, clamped: with factors for which all
 * pairs of int8 were compared with TFLite's three roundings.
 */
typedef struct {
    int32_t count;
    int32_t lhs_factor;
    int32_t rhs_factor;
    int32_t offset;
    int32_t shift;
    cg_range_rv32 range;
} cg_add_params_rv32;

/* In place of either argument. */
void cg_add_s8_rv32(const cg_add_params_rv32 *params, const int8_t *lhs, const int8_t *rhs,
                    int8_t *output);
/* `count` elements. */
void cg_add_s8_rv32_run(const cg_add_params_rv32 *params, const int8_t *lhs, const int8_t *rhs,
                        int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_RV32_H */
