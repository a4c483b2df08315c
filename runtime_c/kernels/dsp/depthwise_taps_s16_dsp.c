/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_taps_s16_dsp.c -- depthwise convolution, int16 image, DSP extension:
 * cg_depthwise_taps_s16_dsp_parts.h.
 */
#include "cg_needs_dsp.h"

#define DW_TAPS            cg_depthwise_taps_s16_dsp
#define DW_TAPS_LOOP(part) cg_dw_##part##_s16_dsp
#include "cg_depthwise_taps_s16_dsp_parts.h"
