/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_s8_dsp.c -- 2-D convolution, int8, DSP extension, in tiles of four pixels, two and one:
 * cg_conv2d_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define CONV2D           cg_conv2d_s8_dsp
#define CONV2D_ROW       cg_conv2d_s8_dsp_row
#define CONV2D_POINTWISE cg_conv2d_s8_dsp_pointwise
#define MOST_PIXELS      4
#include "cg_conv2d_dsp_parts.h"
