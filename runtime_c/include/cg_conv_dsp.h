/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_dsp.h -- convolutions and fully connected layers for cores with the DSP extension
 * (SMLAD): parameters, prototypes, contracts.
 *
 * Bit-equal to cg_conv2d_s8 and cg_fully_connected_s8. Pixels are widened to int16 in a workspace
 * once, up to four pixels at a time; then two output channels are computed at a time by SMLAD
 * from a stream of packed weights (kernels/tile{4,2,1}_s8_dsp.S).
 */
#ifndef CG_CONV_DSP_H
#define CG_CONV_DSP_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `stream` holds, for a layer of K weights a channel, padded with zeros to 4 * groups of them:
 *  - for each pair of channels (a, b): bias a, bias b; for each group of four weights the words
 *    {a0 b0 a2 b2}, {a1 b1 a3 b3} (bytes, lowest address first); 2 * multiplier modulo 2^32 of a
 *    and b; one word of shifts: a in the lowest byte, b in the next;
 *  - where the number of channels is odd, for the last one: bias; {a0 a1 a2 a3} a group;
 *    multiplier; shift.
 * Biases hold the image's zero point folded over all taps. A byte of shifts is the shift right, 1
 * to 31, where that and a range of [-128, 127] is all there is to requantizing. Otherwise bit 7 of
 * a's is set (for both), and then bit 6 says that the low bits are a shift left. Bit 31 of the word
 * is set where the zero point is the least result: there the halves of negative sums may be rounded
 * either way.
 */
typedef struct {
    const int32_t *stream;
    const int8_t *padding; /* a pixel in the padding: in.c zero points; NULL if in.c % 4 != 0 */
    const int16_t *patch_offsets; /* of a window in a patch, see below; NULL if in.c % 4 == 0 */
    const int16_t *image_offsets; /* of one in the image; NULL if in.c % 4 == 0 */
    int32_t tile;                 /* pixels computed at once: 4, 2 or 1 */
} cg_conv_weights_dsp;

/*
 * If in.c % 4 != 0, windows are read byte by byte, groups of four values in the order 0 2 1 3, by
 * tables that say how far each value lies behind the first one. Windows that reach into the padding
 * are copied together first: a patch of kernel_h lines, of cg_patch_line_dsp() bytes each.
 */
static inline int32_t cg_patch_line_dsp(const cg_window *window, int32_t pixels)
{
    const int32_t columns =
        ((pixels - 1) * window->stride_w) + ((window->kernel_w - 1) * window->dilation_w) + 1;
    return columns * window->in.c;
}

/*
 * One group only. Where in.c % 4 == 0 the image is aligned to 4 bytes, else it may lie anywhere.
 * Workspace, aligned to 4 bytes: 8 * tile * groups bytes for widened pixels; in front of them, if
 * there are `patch_offsets`, a patch, its size rounded up to a multiple of 4. A row by itself,
 * whose lines may lie in a ring, where in.c % 4 != 0 also takes 8 * groups bytes for a table of its
 * own. Overlap: the windows of one tile of a row (or of the image, where window and strides are 1)
 * are read before its first result is written.
 */
void cg_conv2d_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                      void *workspace, const int8_t *input, int8_t *output);
/* Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. */
void cg_conv2d_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop);
/* Convolution with a window and strides of 1, in.c % 4 == 0, a result as large as the image. */
void cg_conv2d_s8_dsp_pointwise(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                void *workspace, const int8_t *input, int8_t *output);

/*
 * Convolutions in tiles of two pixels or one, and of one alone: without the code of larger ones.
 * What a function can do depends on its name and on nothing that it is compiled with, so models
 * that were built apart can be linked into one image.
 */
void cg_conv2d_2_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                        void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_2_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                            void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                            int32_t x_start, int32_t x_stop);
void cg_conv2d_2_s8_dsp_pointwise(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                  void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_1_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                        void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_1_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                            void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                            int32_t x_start, int32_t x_stop);
void cg_conv2d_1_s8_dsp_pointwise(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                  void *workspace, const int8_t *input, int8_t *output);

/*
 * By int4 weights, bit-equal to the same weights as int8: workspace, alignment and overlap as
 * above. `stream` holds for each pair of channels (a, b): bias a; a byte 16 * b + (a + 8) for each
 * of 4 * groups weights; bias b; multipliers and shifts as above. A last channel of an odd number
 * is paired with zeros. At most 65,536 weights a channel, so that 16 times a sum has 32 bits.
 */
void cg_conv2d_s4_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                      void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_s4_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop);
void cg_conv2d_s4_dsp_pointwise(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                void *workspace, const int8_t *input, int8_t *output);
/* FULLY_CONNECTED by int4 weights; else as cg_fully_connected_s8_dsp. */
void cg_fully_connected_s4_dsp(const cg_fc_params *params, const int32_t *stream, void *workspace,
                               const int8_t *input, int8_t *output);

/*
 * By weights of uint8, held as int8, whose zero point counts: workspace, alignment and overlap as
 * above, for as many groups as the stream has. Behind the values of a pixel lie cg_sum_groups_dsp()
 * groups of sums: less those of its first CG_SUMMED_WORDS_DSP words, of the next, ..., zeros behind
 * the last. The stream has the zero point as their weight, and for values that fill up a group.
 */
enum { CG_SUMMED_WORDS_DSP = 126 }; /* of two values: their sum has 16 bits */
static inline int32_t cg_sum_groups_dsp(int32_t groups)
{
    const int32_t sums = ((2 * groups) + CG_SUMMED_WORDS_DSP - 1) / CG_SUMMED_WORDS_DSP;
    return (sums + 3) / 4;
}
void cg_conv2d_u8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                      void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_u8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop);
void cg_conv2d_u8_dsp_pointwise(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                void *workspace, const int8_t *input, int8_t *output);

/*
 * One row of inputs, aligned to 4 bytes where in_len % 4 == 0. Workspace, aligned to 4 bytes:
 * 8 * groups bytes. The input is read before the first result is written: the output may overlap
 * it in any way.
 */
void cg_fully_connected_s8_dsp(const cg_fc_params *params, const int32_t *stream, void *workspace,
                               const int8_t *input, int8_t *output);
/*
 * Further outputs of the same row from the workspace that the call above left: the stream and
 * out_len are those of these outputs alone.
 */
void cg_fully_connected_widened_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                       void *workspace, int8_t *output);
/*
 * One row without a workspace: the input is widened once more for each pair of outputs. in_len is
 * a multiple of 4. Overlap: the whole input is read for each output, as cg_fully_connected_s8 does.
 */
void cg_fully_connected_narrow_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                      const int8_t *input, int8_t *output);
/* Fully connected layer of one output (out_len is 1): 1.75 instructions a multiply-accumulate
 * for 2.5. */
void cg_fully_connected_single_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                      const int8_t *input, int8_t *output);

/*
 * Fully connected layer by a joined stream, which takes fewer instructions: the sum of x * (256 b +
 * a) less that of x * a is 256 times that of x * b, and the first takes the words as they are. In
 * the stream of a pair, b of each weight is one less where a is negative, so that a half of a word
 * is 256 b + a, and the bias of b is 256 times it plus that of a. No b is -128 where a is negative,
 * and no sum of b leaves [-2^23, 2^23).
 */
void cg_conv2d_joined_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                             void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_joined_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                 void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                 int32_t x_start, int32_t x_stop);
void cg_conv2d_joined_s8_dsp_pointwise(const cg_conv_params *params,
                                       const cg_conv_weights_dsp *weights, void *workspace,
                                       const int8_t *input, int8_t *output);
void cg_conv2d_2_joined_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                               void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_2_joined_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                   void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                   int32_t x_start, int32_t x_stop);
void cg_conv2d_2_joined_s8_dsp_pointwise(const cg_conv_params *params,
                                         const cg_conv_weights_dsp *weights, void *workspace,
                                         const int8_t *input, int8_t *output);
void cg_conv2d_1_joined_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                               void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_1_joined_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                   void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                   int32_t x_start, int32_t x_stop);
void cg_conv2d_1_joined_s8_dsp_pointwise(const cg_conv_params *params,
                                         const cg_conv_weights_dsp *weights, void *workspace,
                                         const int8_t *input, int8_t *output);
/*
 * 3x3, strides of 2, dilation 1, in.c == 3, no padding at the left, rows of a multiple of 4 pixels,
 * at most half as many in the result, an image aligned to 4 bytes. Words of a channel: 2 * (bias -
 * in_zero * sum(w)); for each row of the window 2 * w as int16, {w2 w0} {w3 w1} {w4 w5} {w8 w6} {0
 * w7}; the multiplier; 2 * out_zero + 1, shifted to the left by the next word; the right shift less
 * one (0 to 22). No activation clamps, no accumulator reaches 2^30. Workspace, aligned to 4 bytes:
 * 168 bytes. Overlap: the windows of four pixels of a row are read before their first result is
 * written.
 */
void cg_conv2d_rgb_s8_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                          const int8_t *input, int8_t *output);
/*
 * One input channel, windows of three or four columns, stride 2 across, dilation 1. Words of a
 * channel: 256 * 2 * (bias - in_zero * sum(w)) plus the right shift less one (1 to 23), a word of
 * bytes {w0, w2, w1, w3} for each row of the window, the multiplier. No activation clamps, no
 * accumulator reaches 2^30. Workspace, aligned to 4 bytes: 24 * kernel_h bytes for every five
 * result columns. Overlap: the windows of five pixels of a row are read before their first result
 * is written.
 */
void cg_conv2d_mono_s8_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                           const int8_t *input, int8_t *output);
void cg_fully_connected_joined_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                      void *workspace, const int8_t *input, int8_t *output);
void cg_fully_connected_widened_joined_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                              void *workspace, int8_t *output);
void cg_fully_connected_narrow_joined_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                             const int8_t *input, int8_t *output);

/*
 * Convolution rounded as ONNX does: rint(float32(sum) * scale) + zero, on cores that have an FPU
 * too. The stream's multipliers are float32, its shifts say only where an activation clamps.
 */
void cg_qlinear_conv2d_s8_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                              void *workspace, const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_s8_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                  void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                  int32_t x_start, int32_t x_stop);
void cg_qlinear_conv2d_s8_dsp_pointwise(const cg_conv_params *params,
                                        const cg_conv_weights_dsp *weights, void *workspace,
                                        const int8_t *input, int8_t *output);
void cg_qlinear_fully_connected_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                       void *workspace, const int8_t *input, int8_t *output);
void cg_qlinear_fully_connected_widened_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                               void *workspace, int8_t *output);
void cg_qlinear_fully_connected_narrow_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                              const int8_t *input, int8_t *output);
/* Both by int4 weights, whose stream is that of cg_conv2d_s4_dsp. */
void cg_qlinear_conv2d_s4_dsp(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                              void *workspace, const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_s4_dsp_row(const cg_conv_params *params, const cg_conv_weights_dsp *weights,
                                  void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                  int32_t x_start, int32_t x_stop);
void cg_qlinear_conv2d_s4_dsp_pointwise(const cg_conv_params *params,
                                        const cg_conv_weights_dsp *weights, void *workspace,
                                        const int8_t *input, int8_t *output);
void cg_qlinear_fully_connected_s4_dsp(const cg_fc_params *params, const int32_t *stream,
                                       void *workspace, const int8_t *input, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_CONV_DSP_H */
