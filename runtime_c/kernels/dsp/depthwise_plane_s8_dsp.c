/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_plane_s8_dsp.c -- 3x3 depthwise convolution of one channel, int8, DSP extension:
 * cg_depthwise_plane_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define PLANE       cg_depthwise_plane_s8_dsp
#define PLANE_ROW   cg_depthwise_plane_s8_dsp_row
#define PLANE_LINE1 cg_dw3x3_s8_dsp_line1
#define PLANE_LINE2 cg_dw3x3_s8_dsp_line2
#include "cg_depthwise_plane_dsp_parts.h"
