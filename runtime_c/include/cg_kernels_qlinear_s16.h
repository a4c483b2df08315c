/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_qlinear_s16.h -- kernels on int16 that round as ONNX does. Parameters, shapes and
 * overlap are those of the kernels in cg_kernels_s16.h and cg_kernels_qlinear.h without `qlinear`
 * or of int8; but zero points may be any.
 */
#ifndef CG_KERNELS_QLINEAR_S16_H
#define CG_KERNELS_QLINEAR_S16_H

#include "cg_kernels_qlinear.h"
#include "cg_kernels_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `multiplier` and `shift` of cg_conv_weights_s16 mean what cg_round_even.h says; `scale_step`
 * is 1. `wide`: 32 bits do not hold every sum, and every shift is 0. Weights of int16:
 */
typedef struct {
    const int16_t *weight;
    const int64_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t scale_step;
    int32_t wide;
} cg_conv_weights_s16w16;

void cg_qlinear_conv2d_s16(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                           const cg_s16 *input, cg_s16 *output);
void cg_qlinear_conv2d_s16_part(const cg_conv_params *params, const cg_conv_weights_s16 *weights,
                                const cg_s16 *input, cg_s16 *output, int32_t y, int32_t x_start,
                                int32_t x_stop);
void cg_qlinear_conv2d_s16w16(const cg_conv_params *params, const cg_conv_weights_s16w16 *weights,
                              const cg_s16 *input, cg_s16 *output);
void cg_qlinear_conv2d_s16w16_part(const cg_conv_params *params,
                                   const cg_conv_weights_s16w16 *weights, const cg_s16 *input,
                                   cg_s16 *output, int32_t y, int32_t x_start, int32_t x_stop);

void cg_qlinear_depthwise_conv2d_s16(const cg_conv_params *params,
                                     const cg_conv_weights_s16 *weights, const cg_s16 *input,
                                     cg_s16 *output);
void cg_qlinear_depthwise_conv2d_s16_part(const cg_conv_params *params,
                                          const cg_conv_weights_s16 *weights, const cg_s16 *input,
                                          cg_s16 *output, int32_t y, int32_t x_start,
                                          int32_t x_stop);
void cg_qlinear_depthwise_conv2d_s16w16(const cg_conv_params *params,
                                        const cg_conv_weights_s16w16 *weights, const cg_s16 *input,
                                        cg_s16 *output);
void cg_qlinear_depthwise_conv2d_s16w16_part(const cg_conv_params *params,
                                             const cg_conv_weights_s16w16 *weights,
                                             const cg_s16 *input, cg_s16 *output, int32_t y,
                                             int32_t x_start, int32_t x_stop);

void cg_qlinear_fully_connected_s16(const cg_fc_params *params, const cg_conv_weights_s16 *weights,
                                    const cg_s16 *input, cg_s16 *output);
void cg_qlinear_fully_connected_s16w16(const cg_fc_params *params,
                                       const cg_conv_weights_s16w16 *weights, const cg_s16 *input,
                                       cg_s16 *output);

/* float32 to int16: the quotient by the scale, halves to even. Overlap as cg_quantize_f32_s16. */
void cg_quantize_linear_f32_s16(const cg_quantize_params *params, const cg_f32 *input,
                                cg_s16 *output, int32_t count);

/* In place of an argument that is not broadcast. */
void cg_qlinear_add_s16(const cg_qlinear_pair_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                        cg_s16 *output);
void cg_qlinear_mul_s16(const cg_qlinear_pair_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                        cg_s16 *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_QLINEAR_S16_H */
