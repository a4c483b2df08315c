/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_depthwise_taps_s16_dsp.c -- depthwise convolution, int16 image, rounded as ONNX does, DSP
 * extension and FPU: cg_depthwise_taps_s16_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define DW_TAPS            cg_qlinear_depthwise_taps_s16_dsp
#define DW_TAPS_LOOP(part) cg_dw_##part##_even_s16_dsp
#include "cg_depthwise_taps_s16_dsp_parts.h"
