@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise3x3_least_parts_dsp.S -- the products of the 3x3 depthwise convolution where the zero
 * point is the least result: cg_dw3x3_dsp.inc.
 */
#include "cg_needs_dsp.h"
#define CG_ENDS_AT_ZERO
#include "cg_dw3x3_dsp.inc"

    two_lines cg_dw3x3_least_s8_dsp_plane6, 6
    two_lines cg_dw3x3_least_s8_dsp_plane4, 4
    one_line cg_dw3x3_least_s8_dsp_line1, 1
    one_line cg_dw3x3_least_s8_dsp_line2, 2
