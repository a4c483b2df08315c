/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_conv2d_s16_dsp.c -- 2-D convolution, int16 image, int8 weights, rounded as ONNX does, DSP
 * extension and FPU: cg_conv2d_s16_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define CONV2D    cg_qlinear_conv2d_s16_dsp
#define TILE4     cg_tile4_even_s16_dsp
#define TILE1     cg_tile1_even_s16_dsp
#define PAD(word) (word)
#include "cg_conv2d_s16_dsp_parts.h"
