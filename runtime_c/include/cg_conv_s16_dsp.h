/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_s16_dsp.h -- convolutions and fully connected layers of int16 images and int8 weights,
 * for cores with the DSP extension: prototypes, contracts.
 *
 * Bit-equal to cg_conv2d_s16 and cg_fully_connected_s16 with `wide` weights, where the sums fit 32
 * bits: |bias| + 32768 * sum |w| < 2^31 for every channel.
 *
 * `stream` holds, for a layer of K weights a channel, for each pair of channels (a, b): bias a,
 * bias b; for each pair of weights the word {a0 b0 a1 b1} (bytes, lowest address first; zeros
 * behind the last weight); multiplier * 2^16 of a and of b; one word of shifts: a's in the lowest
 * byte, b's in the next, each 16 less than that of cg_conv_weights_s16 and 1 to 30. Where the
 * number of channels is odd the last pair has zeros for b (and a shift of 1).
 */
#ifndef CG_CONV_S16_DSP_H
#define CG_CONV_S16_DSP_H

#include "cg_kernels_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One group only. Where in.c is even the image is aligned to 4 bytes. Workspace, aligned to 4
 * bytes: the windows of four pixels, 16 * ((K + 1) / 2) bytes. Overlap: the windows of a tile are
 * read before its first result is written. Rows are divided into tiles of four pixels, what is left
 * into one of three, or into single pixels.
 */
void cg_conv2d_s16_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                       const cg_s16 *input, cg_s16 *output);

/*
 * Rows of inputs, in_len even, aligned to 4 bytes. Overlap: a row is read for each pair of outputs.
 */
void cg_fully_connected_s16_dsp(const cg_fc_params *params, const int32_t *stream,
                                const cg_s16 *input, cg_s16 *output);

/*
 * Layers rounded as ONNX does, on cores with an FPU too: bit-equal to cg_qlinear_conv2d_s16 and
 * cg_qlinear_fully_connected_s16 where 32 bits hold the sums. The zero point of the image is in the
 * biases; taps in the padding read it. `stream` has float32 scales in place of multipliers
 * and zeros in place of shifts.
 */
void cg_qlinear_conv2d_s16_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                               const cg_s16 *input, cg_s16 *output);
void cg_qlinear_fully_connected_s16_dsp(const cg_fc_params *params, const int32_t *stream,
                                        const cg_s16 *input, cg_s16 *output);

/* ---- parts ---------------------------------------------------------------------------- */

/* cg_tile_s16_dsp.inc knows these offsets. */
typedef struct {
    const cg_s32 *pixels; /* pairs of values; of four pixels: the first pairs of all of them, ... */
    const int32_t *stream; /* packed weights */
    int32_t pairs;         /* of channels, an odd last one among them */
    int32_t words;         /* pairs of values a pixel */
    int32_t is_odd;
    int32_t act_min;
    int32_t act_max;
    int32_t is_clamped; /* beyond the range of int16 */
    int32_t zero;       /* of results: of the tiles that round as ONNX does alone */
} cg_tile_s16_dsp;

/*
 * All channels of four pixels. The first goes to `output`, the next two follow `step` bytes apart,
 * the fourth `last_step` bytes behind the third: 0 where it is the third once more.
 */
void cg_tile4_s16_dsp(const cg_tile_s16_dsp *tile, cg_s16 *output, int32_t step, int32_t last_step);
/* All channels of one pixel. */
void cg_tile1_s16_dsp(const cg_tile_s16_dsp *tile, cg_s16 *output);
/* Tiles of four pixels and one, rounded as ONNX does. */
void cg_tile4_even_s16_dsp(const cg_tile_s16_dsp *tile, cg_s16 *output, int32_t step,
                           int32_t last_step);
void cg_tile1_even_s16_dsp(const cg_tile_s16_dsp *tile, cg_s16 *output);

/* The tile of a layer, without pixels. */
static inline cg_tile_s16_dsp cg_tile_of_s16_dsp(const int32_t *stream, int32_t values,
                                                 int32_t channels, int32_t act_min, int32_t act_max)
{
    const cg_tile_s16_dsp tile = {
        .pixels = NULL,
        .stream = stream,
        .pairs = (channels + 1) / 2,
        .words = (values + 1) / 2,
        .is_odd = channels % 2,
        .act_min = act_min,
        .act_max = act_max,
        .is_clamped = ((act_min > -32768) || (act_max < 32767)) ? 1 : 0,
        .zero = 0,
    };
    return tile;
}

#ifdef __cplusplus
}
#endif

#endif /* CG_CONV_S16_DSP_H */
