/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_v6m.h -- convolutions and fully connected layers for cores that have MULS and nothing
 * longer (ARMv6-M; also Armv8-M Baseline): parameters, prototypes, contracts.
 *
 * Bit-equal to cg_conv2d_s8, cg_depthwise_conv2d_s8 and cg_fully_connected_s8. Two pixels lie in
 * the halves of one word, so that one MULS by an int8 weight makes two products; two taps fit into
 * the halves before they are added up (kernels/v6m/tile_s8_v6m.S).
 */
#ifndef CG_CONV_V6M_H
#define CG_CONV_V6M_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Numbers of an output channel, four words, behind its weights. Requantizing is
 *     x = accumulator            (base and zero points are in the bias)
 *     x > limit, unsigned:       the result is act_min if x is negative, else act_max; otherwise
 *     y = x * high + (x * low >> 13) + offset
 *     y < middle:                y -= kink
 *     result = y >> 24
 * where word 0 is limit << 13 | low, word 1 high, word 2 offset, word 3 kink: at least 0, and 0
 * where no y is below `middle`. For other channels word 3 is negative: then word 1 is the
 * multiplier and word 0 the shift right, or 64 and the shift left, and the bias is without a base.
 *
 * `stream` holds for each channel its bias, K weights (int8, padded with zeros to a multiple of 4)
 * and its numbers. The bias also takes back what the tile kernels add (CG_LANES_V6M).
 */
typedef struct {
    const int32_t *stream;
    const int8_t *padding; /* a pixel in the padding: in.c zero points; NULL without padding */
    int32_t tile;          /* pixels computed at once: 4 or 2 */
    int32_t middle;        /* (2 * out_zero + 1) << 23 */
} cg_conv_weights_v6m;

/*
 * One group only; image and result may lie anywhere. Workspace, aligned to 4 bytes:
 * 2 * tile * K bytes, K rounded up to a multiple of 4.
 * Overlap: the windows of one tile of a row (or of the image, where window and strides are 1) are
 * read before its first result is written.
 */
void cg_conv2d_s8_v6m(const cg_conv_params *params, const cg_conv_weights_v6m *weights,
                      void *workspace, const int8_t *input, int8_t *output);
/* Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. */
void cg_conv2d_s8_v6m_row(const cg_conv_params *params, const cg_conv_weights_v6m *weights,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop);

/*
 * `stream` holds for each group of four outputs their four biases, for each input a word of their
 * four weights (the first output's in the lowest byte), and their numbers, four words each; biases
 * take nothing back. The last group may be padded with zeros. `middle` as in cg_conv_weights_v6m.
 */
typedef struct {
    const int32_t *stream;
    int32_t middle;
} cg_fc_weights_v6m;

/*
 * One row of inputs, which may lie anywhere. Overlap: the whole input is read for each group of
 * four outputs, which are written then.
 */
void cg_fully_connected_s8_v6m(const cg_fc_params *params, const cg_fc_weights_v6m *weights,
                               const int8_t *input, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_CONV_V6M_H */
