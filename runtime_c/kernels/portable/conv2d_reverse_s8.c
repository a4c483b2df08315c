/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_reverse_s8.c -- 2-D convolution, int8, from the last pixel to the first: for a
 * result that starts above its image. All else as in conv2d_s8.c.
 */
#include "cg_window_loops.h"

CG_DEFINE_REVERSE_ROWS(cg_conv2d_reverse_s8, cg_conv2d_s8_row,
                       CG_LIST(const cg_conv_params *params, const cg_conv_weights *weights),
                       CG_LIST(params, weights))
