/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_depthwise_taps_s8_dsp.c -- the same, rounded as ONNX does, DSP extension and FPU. */
#include "cg_needs_dsp.h"

#define DW_TAPS            cg_qlinear_depthwise_taps_s8_dsp
#define DW_TAPS_ROW        cg_qlinear_depthwise_taps_s8_dsp_row
#define DW_TAPS_LOOP(part) cg_dw_##part##_even_dsp
#include "cg_depthwise_taps_dsp_parts.h"
