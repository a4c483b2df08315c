/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_1_joined_s8_dsp.c -- 2-D convolution, int8, DSP extension, by a joined stream,
 * pixel by pixel: cg_conv2d_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define CONV2D           cg_conv2d_1_joined_s8_dsp
#define CONV2D_ROW       cg_conv2d_1_joined_s8_dsp_row
#define CONV2D_POINTWISE cg_conv2d_1_joined_s8_dsp_pointwise
#define MOST_PIXELS      1
#define TILE4            cg_tile4_joined_s8_dsp
#define TILE2            cg_tile2_joined_s8_dsp
#define TILE1            cg_tile1_joined_s8_dsp
#define STREAM_END       cg_stream_end_s8_dsp
#include "cg_conv2d_dsp_parts.h"
