/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_v7m.h -- convolutions and fully connected layers, int8, for ARMv7-M cores without the
 * DSP extension: parameters, prototypes, contracts. What cg_kernels.h says of all
 * kernels holds here; results are bit-equal to cg_conv2d_s8, cg_depthwise_conv2d_s8 and
 * cg_fully_connected_s8. No argument needs an alignment, workspaces and tables of words need 4.
 */
#ifndef CG_KERNELS_V7M_H
#define CG_KERNELS_V7M_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Last part of requantization: zero point and range. Words of a channel's requantization:
 * cg_v7m_parts.h. */
typedef struct {
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
} cg_range_v7m;

/* ---- convolution ------------------------------------------------------------------------ */

/*
 * Pixels are packed two to a word, x0 + (x1 << 16), and multiplied with plain int8 weights, so that
 * MLA makes two products. Sums of a run of weights fit 16 bits whatever the pixels are: runs are
 * chosen by the weights when they are packed.
 *
 * K = kernel_h * kernel_w * in.c weights a channel, padded with a zero to an even number.
 * `weights`: for each channel its runs, for each run two weights, a byte, the other weights of the
 * run. The byte is 2 * (pairs of weights in the run - 1) + 1 in a channel's last run, without the 1
 * in others; at most CG_RUN_PAIRS_V7M pairs.
 * `channels`: CG_CONV_WORDS_V7M words of each channel: the sums' first values (B + ((B + R) << 16)
 * - 32767 * R, and B + R, where B is the bias with the image's zero point folded in and R the
 * number of runs), multiplier, offset, shift. Bit 29 of a shift: the last channel.
 */
#define CG_CONV_WORDS_V7M 5
#define CG_RUN_PAIRS_V7M  8

typedef struct {
    cg_window window; /* one group */
    const int8_t *weights;
    const int32_t *channels;
    cg_range_v7m range;
    int32_t in_zero;
    int32_t tile;      /* pixels computed at once: 4 or 2 */
    int32_t patch_end; /* offset in the workspace */
} cg_conv_params_v7m;

/* Bytes of a line of a patch: what the windows of `pixels` pixels cover. */
static inline int32_t cg_patch_line_v7m(const cg_window *window, int32_t pixels)
{
    const int32_t columns =
        ((pixels - 1) * window->stride_w) + ((window->kernel_w - 1) * window->dilation_w) + 1;
    return columns * window->in.c;
}

/*
 * Workspace: 2 * tile bytes for each of K values (K even), and where windows reach into the padding
 * as much more as a patch of kernel_h lines that ends at `patch_end` needs so that values are
 * packed from it to the workspace's beginning (of two pixels, to its second half). Overlap: the
 * windows of one tile of a row (of the image, where window and strides are 1) are read before its
 * first result is written.
 */
void cg_conv2d_s8_v7m(const cg_conv_params_v7m *params, void *workspace, const int8_t *input,
                      int8_t *output);
/* Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. */
void cg_conv2d_s8_v7m_row(const cg_conv_params_v7m *params, void *workspace, const cg_rows *input,
                          int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

/* ---- depthwise convolution -------------------------------------------------------------- */

/*
 * `weights`: of each output channel one behind the other its kernel_h * kernel_w weights.
 * `channels`: the first channel's bias, then for each channel multiplier, offset, shift and the
 * next one's bias (0 behind the last): 1 + CG_DW_WORDS_V7M words a channel. Biases hold the zero
 * point of the image. Bit 31 of a shift: the next channel reads the next channel of the image; bit
 * 29: the last channel (in place: of a group). `pad`: in.c times the image's zero point (in place:
 * `group` times).
 */
#define CG_DW_WORDS_V7M 4

typedef struct {
    cg_window window;
    const int8_t *weights;
    const int32_t *channels;
    const int8_t *pad;
    cg_range_v7m range;
    int32_t group; /* channels at a time, in place */
} cg_dw_params_v7m;

/*
 * Four pixels in row-major order at a time, channel by channel. Workspace: 16 bytes for each weight
 * of a channel.
 */
void cg_depthwise_s8_v7m(const cg_dw_params_v7m *params, void *workspace, const int8_t *input,
                         int8_t *output);
/* Result row y, columns [x_start, x_stop). The row's windows are read until its last write. */
void cg_depthwise_s8_v7m_row(const cg_dw_params_v7m *params, void *workspace, const cg_rows *input,
                             int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);
/*
 * The result replaces its image: stride 1, one output pixel an input pixel, multiplier 1.
 * Workspace: 16 bytes for each weight of a channel, then (kernel_h - 1) * dilation_h + 1 rows of
 * `group` channels.
 */
void cg_depthwise_in_place_s8_v7m(const cg_dw_params_v7m *params, void *workspace, int8_t *image);

/* ---- fully connected, one row ----------------------------------------------------------- */

/*
 * Outputs by groups of eight, then one of four if as many are left, then singles. `weights`: of
 * each group one weight of each output, input after input. `channels`: of each group the biases
 * (zero point folded), then multiplier, offset, shift of each output.
 */
typedef struct {
    const int8_t *weights;
    const int32_t *channels;
    cg_range_v7m range;
    int32_t in_len;
    int32_t out_len;
} cg_fc_params_v7m;

/* The whole input is read for each group before its outputs are written. */
void cg_fully_connected_s8_v7m(const cg_fc_params_v7m *params, const int8_t *input, int8_t *output);

/*
 * One row by the parameters and constants of cg_conv2d_s8_v7m, of an even number of inputs, without
 * a workspace: for a range of sizes from one row on. The whole input is read for each output.
 */
void cg_fully_connected_runs_s8_v7m(const cg_conv_params_v7m *params, const int8_t *input,
                                    int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_V7M_H */
