/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_hybrid.h -- dynamic-range layers: float32 images and results, int8 weights. A layer
 * first quantises its image into a workspace by the range of what it is given (a convolution image
 * by image, a fully connected layer row by row), then sums integers, exact to TFLite's kernels.
 */
#ifndef CG_KERNELS_HYBRID_H
#define CG_KERNELS_HYBRID_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const int8_t *weight;
    const float *bias;
    const float *scale;    /* of the weights, one a channel */
    int32_t asymmetric;    /* not 0: images get a zero point */
    int32_t channel_first; /* not 0: a sum takes its channel's scale, then the image's */
} cg_hybrid_weights;

/* Scale that an image was divided by, and its zero point. */
typedef struct {
    float scale;
    int32_t zero;
} cg_hybrid_scale;

cg_hybrid_scale cg_hybrid_quantize(const cg_f32 *input, int32_t count, int32_t asymmetric,
                                   int8_t *output);

/*
 * Workspace `image`: one image of int8 (a row of a fully connected layer). Of a single image or row
 * the result may lie over the input, which is not read again once it is quantised.
 */
void cg_hybrid_conv2d(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                      const cg_f32 *input, int8_t *image, cg_f32 *output);
void cg_hybrid_depthwise_conv2d(const cg_conv_params_f32 *params, const cg_hybrid_weights *weights,
                                const cg_f32 *input, int8_t *image, cg_f32 *output);
void cg_hybrid_fully_connected(const cg_fc_params_f32 *params, const cg_hybrid_weights *weights,
                               const cg_f32 *input, int8_t *image, cg_f32 *output);

#ifdef __cplusplus
}
#endif

#endif
