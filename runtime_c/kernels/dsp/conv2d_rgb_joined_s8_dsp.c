/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_rgb_joined_s8_dsp.c -- 3x3 convolution of stride 2 on three channels, int8, DSP extension,
 * by a joined stream: cg_conv2d_dsp_parts.h, with windows of four pixels gathered by words.
 */
#define CONV2D      cg_conv2d_rgb_joined_s8_dsp
#define OF_RGB      cg_gather4_rgb_s8_dsp
#define MOST_PIXELS 4
#define TILE4       cg_tile4_joined_s8_dsp
#define TILE2       cg_tile2_joined_s8_dsp
#define TILE1       cg_tile1_joined_s8_dsp
#define STREAM_END  cg_stream_end_s8_dsp
#include "cg_conv2d_dsp_parts.h"
