/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_conv2d_s4_dsp.c -- 2-D convolution, int8 by int4 weights, rounded as ONNX does, DSP
 * extension and FPU, in tiles of four pixels, two and one: cg_conv2d_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define CONV2D           cg_qlinear_conv2d_s4_dsp
#define CONV2D_ROW       cg_qlinear_conv2d_s4_dsp_row
#define CONV2D_POINTWISE cg_qlinear_conv2d_s4_dsp_pointwise
#define MOST_PIXELS      4
#define TILE4            cg_tile4_even_s4_dsp
#define TILE2            cg_tile2_even_s4_dsp
#define TILE1            cg_tile1_even_s4_dsp
#define STREAM_END       cg_stream_end_s4_dsp
#include "cg_conv2d_dsp_parts.h"
