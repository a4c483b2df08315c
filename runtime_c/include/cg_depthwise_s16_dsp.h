/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_s16_dsp.h -- depthwise convolution, int16 image, int8 weights, on cores with the DSP
 * extension: parameters, prototypes, contracts.
 *
 * One result a channel, at least four channels, at most CG_DW_MOST_TAPS taps, any stride, dilation
 * and padding. Bit-equal to cg_depthwise_conv2d_s16 with `wide` weights where 32 bits hold the
 * sums: |bias| + 32768 * sum |w| < 2^31 for every channel.
 */
#ifndef CG_DEPTHWISE_S16_DSP_H
#define CG_DEPTHWISE_S16_DSP_H

#include "cg_depthwise_dsp.h"
#include "cg_kernels_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * taps.weights: per group of four channels four biases (bias - in_zero * sum(w)), per tap the
 * weights of the four channels as int16, an odd number of taps other than nine followed by one of
 * weight 0, four multiplier * 2^16, and a word of shifts: the first channel's in the lowest byte,
 * each 16 less than that of cg_conv_weights_s16 and 1 to 30. If C % 4 != 0 the last group is that
 * of the last four channels. taps.pad: in.c times the image's zero point, 2 bytes each.
 */
typedef struct {
    cg_dw_taps_params taps;
    int32_t act_min;
    int32_t act_max;
} cg_dw_taps_s16_params;

/*
 * Pixel after pixel, four channels at a time: `striped_below` with bands and stripes of one. Where
 * C % 2 == 0 image, result and taps.pad are aligned to 4 bytes.
 */
void cg_depthwise_taps_s16_dsp(const cg_dw_taps_s16_params *params, const cg_s16 *input,
                               cg_s16 *output);

/*
 * Depthwise int16 rounded as ONNX does, on cores that have an FPU too: bit-equal to
 * cg_qlinear_depthwise_conv2d_s16. taps.weights: four float32 scales in place of multipliers and
 * shifts.
 */
void cg_qlinear_depthwise_taps_s16_dsp(const cg_dw_taps_s16_params *params, const cg_s16 *input,
                                       cg_s16 *output);

/* ---- the inner loops, in assembly: depthwise_taps_parts_s16_dsp.S ------------------------ */

/* Least and largest result, twice each. */
typedef struct {
    int32_t least;
    int32_t most;
} cg_dw_limits_s16;

/*
 * Pixels that share their taps (`step` and `tap` in bytes). limits: NULL where they are those of
 * int16. `words`: pixels are aligned to 4 bytes.
 */
void cg_dw_taps9_words_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                               const cg_dw_limits_s16 *limits);
void cg_dw_taps9_halves_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                                const cg_dw_limits_s16 *limits);
void cg_dw_taps_words_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                              const cg_dw_limits_s16 *limits);
void cg_dw_taps_halves_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                               const cg_dw_limits_s16 *limits);

/* Taps rounded as ONNX does: depthwise_taps_even_parts_s16_dsp.S. */
void cg_dw_taps9_words_even_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                                    const cg_dw_limits_s16 *limits);
void cg_dw_taps9_halves_even_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                                     const cg_dw_limits_s16 *limits);
void cg_dw_taps_words_even_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                                   const cg_dw_limits_s16 *limits);
void cg_dw_taps_halves_even_s16_dsp(const cg_dw_taps *taps, const int32_t *weights, cg_s16 *output,
                                    const cg_dw_limits_s16 *limits);

#ifdef __cplusplus
}
#endif

#endif /* CG_DEPTHWISE_S16_DSP_H */
