/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_s16.h -- portable kernels on int16 tensors, weights int8: parameters, prototypes,
 * contracts. What cg_kernels.h says of all kernels holds here.
 *
 * int16 tensors are aligned to 2 bytes and have zero point 0: parameters shared with int8 kernels
 * hold 0 there.
 */
#ifndef CG_KERNELS_S16_H
#define CG_KERNELS_S16_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Weights, as cg_conv_weights. Sums have 64 bits. `wide`: the multipliers have 15 bits, the shifts
 * are to the right, 8 to 46 (cg_requantize_s64); else sums wrap to 32 bits and are requantized as
 * those of int8 kernels.
 */
typedef struct {
    const int8_t *weight;
    const int64_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t scale_step;
    int32_t wide;
} cg_conv_weights_s16;

/* Taps in the padding count for nothing. Overlap as cg_conv2d_s8. */
void cg_conv2d_s16(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                   const cg_s16 *input, cg_s16 *output);
/* Result row y, columns [x_start, x_stop), of one dense image. */
void cg_conv2d_s16_part(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                        const cg_s16 *input, cg_s16 *output, int32_t y, int32_t x_start,
                        int32_t x_stop);
/* Convolution from the last pixel to the first, channels still in order: `row_major_above`. */
void cg_conv2d_reverse_s16(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                           const cg_s16 *input, cg_s16 *output);

/* Overlap as cg_depthwise_conv2d_s8. */
void cg_depthwise_conv2d_s16(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                             const cg_s16 *input, cg_s16 *output);
void cg_depthwise_conv2d_s16_part(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                                  const cg_s16 *input, cg_s16 *output, int32_t y, int32_t x_start,
                                  int32_t x_stop);
void cg_depthwise_conv2d_reverse_s16(const cg_conv_params *params,
                                     const cg_conv_weights_s16 *weights, const cg_s16 *input,
                                     cg_s16 *output);

/* input [rows, in_len], output [rows, out_len]. Overlap as cg_fully_connected_s8. */
void cg_fully_connected_s16(const cg_fc_params *params, const cg_conv_weights_s16 *weights,
                            const cg_s16 *input, cg_s16 *output);

/* Every window holds an element of the image; padding counts for nothing. Overlap by channel. */
void cg_avg_pool2d_s16(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output);
void cg_avg_pool2d_s16_part(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output,
                            int32_t y, int32_t x_start, int32_t x_stop);
void cg_avg_pool2d_reverse_s16(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output);
void cg_max_pool2d_s16(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output);
void cg_max_pool2d_s16_part(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output,
                            int32_t y, int32_t x_start, int32_t x_stop);
void cg_max_pool2d_reverse_s16(const cg_pool_params *params, const cg_s16 *input, cg_s16 *output);

/*
 * Computes as cg_mean_s8, with its workspace: sums of fewer than 2^16 elements, so that 32 bits
 * hold them.
 */
void cg_mean_s16(const cg_mean_params *params, const cg_s16 *input, cg_s16 *output,
                 void *workspace);

/* In place of an argument that is not broadcast; SUB as cg_add_s8 has it. */
void cg_add_s16(const cg_add_params *params, const cg_s16 *lhs, const cg_s16 *rhs, cg_s16 *output);
void cg_mul_s16(const cg_mul_params *params, const cg_s16 *lhs, const cg_s16 *rhs, cg_s16 *output);

/* Two factors, one for values from 0 on and one for those below. */
typedef struct {
    int32_t count;
    int32_t multiplier;
    int32_t shift;
    int32_t negative_multiplier;
    int32_t negative_shift;
    int32_t act_min;
    int32_t act_max;
} cg_rescale_s16_params;

/* RELU, RELU6, LEAKY_RELU and QUANTIZE from int16 to int16. In place. */
void cg_rescale_s16(const cg_rescale_s16_params *params, const cg_s16 *input, cg_s16 *output);

typedef struct {
    int32_t count;
    int32_t kind;       /* 0: LOGISTIC, 1: TANH */
    int32_t multiplier; /* below 2^15 */
    int32_t shift;      /* to the right, 30 or less */
} cg_curve_params;

/* 256 sigmoids from 0 on, 24 for each 1.0; the result in units of 2^-15. In place. */
void cg_curve_s16(const cg_curve_params *params, const uint16_t *sigmoids, const cg_s16 *input,
                  cg_s16 *output);

typedef struct {
    int32_t rows;
    int32_t depth; /* below 65536 */
    int32_t multiplier;
    int32_t shift; /* of differences, to units of 10 / 65535 */
} cg_softmax_s16_params;

/* 513 numbers each: exp on [-10, 0], 1 / (1 + x) on [0, 1]. Result in units of 2^-15. In place. */
void cg_softmax_s16(const cg_softmax_s16_params *params, const int16_t *exponentials,
                    const int16_t *reciprocals, const cg_s16 *input, cg_s16 *output);

/* Reciprocal square roots; 32767 of 0 and less; `multiplier` and `shift` of roots in units of
 * 2^-20. In place. */
void cg_rsqrt_s16(const cg_requantize_params *params, const cg_s16 *input, cg_s16 *output);

/* Computes as cg_softmax_s8, result scale 2^-16, zero point -32768. The result may start count - 1
 * bytes or more below the argument. */
void cg_softmax_s8_s16(const cg_softmax_params *params, const int8_t *input, cg_s16 *output);

/* The result may start `count` - 1 bytes or more below the argument. */
void cg_requantize_s8_s16(const cg_requantize_params *params, const int8_t *input, cg_s16 *output);
/* The result may start up to 1 byte above the argument: it is half as long. */
void cg_requantize_s16_s8(const cg_requantize_params *params, const cg_s16 *input, int8_t *output);
/* The result may start up to 2 bytes above the argument: it is half as long. */
void cg_requantize_s32_s16(const cg_requantize_params *params, const cg_s32 *input, cg_s16 *output);

/* The result may start 2 * (`count` - 1) bytes or more below the argument. */
void cg_requantize_s16_s32(const cg_requantize_params *params, const cg_s16 *input, cg_s32 *output);

/* round(x / scale), halves away from zero, clamped; NaN gives -32768. In place (the result may
 * start up to 2 bytes above the argument: it is half as long). */
void cg_quantize_f32_s16(const cg_quantize_params *params, const cg_f32 *input, cg_s16 *output,
                         int32_t count);

/* scale * x. The result may start 2 * (count - 1) bytes or more below the argument. */
void cg_dequantize_s16_f32(const cg_quantize_params *params, const cg_s16 *input, cg_f32 *output,
                           int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_S16_H */
