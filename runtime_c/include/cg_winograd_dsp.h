/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_winograd_dsp.h -- 3x3 convolutions by Winograd in integers, for cores with the DSP extension
 * (SMLAD): parameters, prototypes, contracts.
 *
 * Bit-equal to cg_conv2d_s8. With pixels d and a filter g
 *   V = B' d B, U = G g G', M = sum over channels of U * V, results = A' M A.
 *
 * F(2x2, 3x3): 2x2 results from 4x4 pixels.
 *   B' = {1 0 -1 0} {0 1 1 0} {0 -1 1 0} {0 1 0 -1}, A' = {1 1 1 0} {0 1 -1 -1}
 * G is {2 0 0} {1 1 1} {1 -1 1} {0 0 2} down, and {1 0 0} {1 1 1} {1 -1 1} {0 0 1} across, where
 * the half of the middle columns is taken from their sums, which are even. So results are doubled,
 * |V| <= 512 and |U| <= 1152, and nothing is rounded.
 *
 * F(4x4, 3x3): 4x4 results from 6x6 pixels, both ways with
 *   B' = {4 0 -5 0 1 0} {0 4 4 -1 -1 0} {0 -4 4 1 -1 0} {0 -2 -1 2 1 0} {0 2 -1 -2 1 0}
 *        {0 4 0 -5 0 1}
 *   G = {6 0 0} {1 1 1} {1 -1 1} {1 2 4} {1 -2 4} {0 0 6}
 *   A' = {1 4 4 1 1 0} / 24 {0 2 -2 1 -1 0} / 12 {0 1 1 1 1 0} / 6 {0 1 -1 2 -2 1} / 6
 * so that |V| <= 12800 and |U| <= 6272. Sums may wrap: 9 * 2^k times a result, times 1/9 modulo
 * 2^32, is 2^k times it, at most 64 times, and that has 32 bits.
 */
#ifndef CG_WINOGRAD_DSP_H
#define CG_WINOGRAD_DSP_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `stream` holds for each group of four result channels, the last one filled up with zeros:
 *  - F(2x2): four words, 4 * bias;
 *  - the int16 pairs of U: its columns, in these its rows, in these the pairs of image channels
 *    {0, 2} {1, 3} {4, 6} ..., up to a multiple of four channels, in these the four result
 * channels. F(2x2): columns 1 2 0 3, rows 1 2 3 (negated) 0; F(4x4): both 1 2 3 4 5 0;
 *  - for each channel F(2x2): multiplier and shift; F(4x4): bias, twice the multiplier modulo 2^32,
 *    shift. A shift is 1 to 31 to the right, or a byte with bit 7 set as cg_conv_dsp.h has it; bit
 *    31 of it too.
 * Biases have the image's zero point folded in. Sums fit 32 bits.
 */
typedef struct {
    const int32_t *stream;
    const int8_t *padding; /* six (F(4x4): ten) pixels of zero points, aligned to 4 bytes */
} cg_winograd_weights_dsp;

/*
 * 3x3, stride and dilation 1, pad_top and pad_left at most 1, one group. Image and result are
 * aligned to 4 bytes where their channels are a multiple of 4. Workspace, aligned to 4 bytes: 64
 * bytes for each channel of the image, rounded up to 4; where in.c % 4 != 0 another 24 bytes for
 * each. Two rows by four columns of the result at a time: their windows are read before the first
 * of them is written.
 */
void cg_winograd_s8_dsp(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                        void *workspace, const int8_t *input, int8_t *output);
/*
 * Convolution by F(4x4). Workspace: 144 bytes for each channel of the image, rounded up to 4, and
 * 896; where in.c % 4 != 0 another 60 for each. Four rows by eight columns of the result at a time.
 */
void cg_winograd4_s8_dsp(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                         void *workspace, const int8_t *input, int8_t *output);

/*
 * Convolution for blocks: result rows from y on, two (F(4x4): four) or what is left, columns
 * [x_start, x_stop). y is a multiple of as many. All windows are read before the last result is
 * written. Columns of the image beyond these windows are not read.
 */
void cg_winograd_s8_dsp_row(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                            void *workspace, const cg_rows *input, const cg_rows *output, int32_t y,
                            int32_t x_start, int32_t x_stop);
void cg_winograd4_s8_dsp_row(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                             void *workspace, const cg_rows *input, const cg_rows *output,
                             int32_t y, int32_t x_start, int32_t x_stop);

/*
 * Convolution by F(2x2) with weights that stay int8, transformed in each call. For each group of
 * four result channels, the last one filled up with zeros, `weights` holds by group of four image
 * channels, by result channel, the nine taps of these four; and `numbers` nine words: four times
 * 4 * bias, four multipliers, the shifts as bytes.
 */
typedef struct {
    const int8_t *weights; /* aligned to 4 bytes */
    const int32_t *numbers;
    int32_t rows; /* of the result between two transforms: even */
} cg_winograd_narrow_dsp;

/*
 * Workspace, aligned to 4 bytes: for each channel of the image, rounded up to 4, 128 bytes, 64 for
 * every four columns and two rows of `rows` rows of the result, and 6 (24 where in.c % 4 != 0); and
 * 48. The windows of `rows` rows are read before the first result of them is written.
 */
void cg_winograd_narrow_s8_dsp(const cg_conv_params *params, const cg_winograd_narrow_dsp *weights,
                               void *workspace, const int8_t *input, int8_t *output);
/* For blocks, as cg_winograd_s8_dsp_row: `rows` rows from y on. */
void cg_winograd_narrow_s8_dsp_row(const cg_conv_params *params,
                                   const cg_winograd_narrow_dsp *weights, void *workspace,
                                   const cg_rows *input, const cg_rows *output, int32_t y,
                                   int32_t x_start, int32_t x_stop);

#ifdef __cplusplus
}
#endif

#endif /* CG_WINOGRAD_DSP_H */
