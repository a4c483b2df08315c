/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise3x3_s4_dsp.c -- 3x3 depthwise convolution, int4 weights, DSP extension:
 * cg_depthwise3x3_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define DW3X3          cg_depthwise3x3_s4_dsp
#define DW3X3_ROW      cg_depthwise3x3_s4_dsp_row
#define DW3X3_ROWS     cg_depthwise3x3_rows_s4_dsp
#define DW3X3_IN_PLACE cg_depthwise3x3_in_place_s4_dsp
#define DW3X3_PLANE6   cg_dw3x3_s8_dsp_plane6
#define DW3X3_PLANE4   cg_dw3x3_s8_dsp_plane4
#define DW3X3_LINE1    cg_dw3x3_s8_dsp_line1
#define DW3X3_LINE2    cg_dw3x3_s8_dsp_line2
#define DW3X3_WIDEN    cg_dw3x3_widen_s4_dsp
#include "cg_depthwise3x3_dsp_parts.h"
