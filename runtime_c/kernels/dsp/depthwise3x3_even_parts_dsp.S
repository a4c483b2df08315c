@ SPDX-License-Identifier: Apache-2.0
/*
 * depthwise3x3_even_parts_dsp.S -- the products of the 3x3 depthwise convolution, rounded as ONNX
 * does: cg_dw3x3_dsp.inc.
 */
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_dw3x3_dsp.inc"

    two_lines cg_dw3x3_even_s8_dsp_plane6, 6
    two_lines cg_dw3x3_even_s8_dsp_plane4, 4
    one_line cg_dw3x3_even_s8_dsp_line1, 1
    one_line cg_dw3x3_even_s8_dsp_line2, 2
