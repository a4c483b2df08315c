/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_depthwise3x3_s8_dsp.c -- 3x3 depthwise convolution, int8, rounded as ONNX does, DSP
 * extension and FPU: cg_depthwise3x3_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define DW3X3          cg_qlinear_depthwise3x3_s8_dsp
#define DW3X3_ROW      cg_qlinear_depthwise3x3_s8_dsp_row
#define DW3X3_ROWS     cg_qlinear_depthwise3x3_rows_s8_dsp
#define DW3X3_IN_PLACE cg_qlinear_depthwise3x3_in_place_s8_dsp
#define DW3X3_PLANE6   cg_dw3x3_even_s8_dsp_plane6
#define DW3X3_PLANE4   cg_dw3x3_even_s8_dsp_plane4
#define DW3X3_LINE1    cg_dw3x3_even_s8_dsp_line1
#define DW3X3_LINE2    cg_dw3x3_even_s8_dsp_line2
#include "cg_depthwise3x3_dsp_parts.h"
