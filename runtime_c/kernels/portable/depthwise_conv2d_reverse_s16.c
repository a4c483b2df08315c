/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_conv2d_reverse_s16.c -- depthwise convolution, int16, from the last pixel to the first:
 * for a result that starts above its image. All else as in depthwise_conv2d_s16.c.
 */
#include "cg_kernels_s16.h"
#include "cg_window_loops.h"

CG_DEFINE_REVERSE_PARTS(cg_depthwise_conv2d_reverse_s16, cg_depthwise_conv2d_s16_part,
                        CG_LIST(const cg_conv_params *params, const cg_conv_weights_s16 *weights),
                        CG_LIST(params, weights))
