/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_fpu.h -- float32 convolutions and fully connected layers for cores with a single
 * precision FPU and with float Helium: parameters, prototypes, contracts.
 *
 * Each result is summed value by value in the order of cg_conv2d_f32 and cg_depthwise_conv2d_f32,
 * every product rounded before it is added: equal to them bit by bit, but that a sum that is
 * infinite stays so where the activation does not limit it. NaN stays NaN. Helium takes subnormal
 * numbers for zeros, as the core does.
 * Tensors are aligned to 4 bytes.
 */
#ifndef CG_KERNELS_FPU_H
#define CG_KERNELS_FPU_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which limits of the activation there are. */
#define CG_CLAMP_LOW  1
#define CG_CLAMP_HIGH 2

typedef struct {
    cg_window window;
    int32_t clamp; /* CG_CLAMP_LOW | CG_CLAMP_HIGH */
    float act_min;
    float act_max;
} cg_conv_params_fpu;

/*
 * One group. `stream` holds, for K weights a channel in the order in which a window is read, for
 * each four channels the K weights of all four, value by value, and four biases. Channels that are
 * left follow one by one: K weights, one bias.
 * Four pixels whose windows have the same columns inside the image are computed together, all
 * channels of theirs, and others alone. A tile's windows
 * are read again for every four channels, and for every one of those left.
 */
void cg_conv2d_f32_fpu(const cg_conv_params_fpu *params, const float *stream, const cg_f32 *input,
                       cg_f32 *output);
/*
 * Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. The
 * row's windows are read until its last write.
 */
void cg_conv2d_f32_fpu_row(const cg_conv_params_fpu *params, const float *stream,
                           const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                           int32_t x_stop);

/*
 * Convolution by weights that lie as float16, each widened as it is read. In `stream` weights are
 * halves, biases two of them each, the bits of a float32; in front of the bias of a channel that is
 * left, an odd number of weights is filled up to an even one.
 */
void cg_conv2d_f32w16_fpu(const cg_conv_params_fpu *params, const uint16_t *stream,
                          const cg_f32 *input, cg_f32 *output);
void cg_conv2d_f32w16_fpu_row(const cg_conv_params_fpu *params, const uint16_t *stream,
                              const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                              int32_t x_stop);

/*
 * One output channel an input channel, at least four of them. `stream` holds, for each four
 * channels, the taps of all four, tap by tap, and four biases; the last four are counted back from
 * the last channel. Tiles of pixels as above; of a tile, the windows of four channels are read
 * before their results are written.
 */
void cg_depthwise_conv2d_f32_fpu(const cg_conv_params_fpu *params, const float *stream,
                                 const cg_f32 *input, cg_f32 *output);
/* Computes a row of results, as cg_conv2d_f32_fpu_row does. */
void cg_depthwise_conv2d_f32_fpu_row(const cg_conv_params_fpu *params, const float *stream,
                                     const cg_rows *input, cg_f32 *output, int32_t y,
                                     int32_t x_start, int32_t x_stop);

/*
 * Stride 1, one output channel an input channel, a multiple of four of them, a result as large as
 * the image: it replaces the image in its bytes, four channels after the other. `stream` as above.
 * Workspace: cg_depthwise_in_place_fpu_workspace_bytes().
 */
void cg_depthwise_in_place_f32_fpu(const cg_conv_params_fpu *params, const float *stream,
                                   cg_f32 *image, void *workspace);

/* Bytes of as many rows of four channels as a window covers. */
static inline size_t cg_depthwise_in_place_fpu_workspace_bytes(const cg_conv_params_fpu *params)
{
    const cg_window *const window = &params->window;
    return (size_t)(cg_covered_rows(window) * window->in.w) * 4u * sizeof(float);
}

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_FPU_H */
