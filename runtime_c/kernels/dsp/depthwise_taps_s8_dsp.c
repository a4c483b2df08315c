/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_taps_s8_dsp.c -- see cg_depthwise_taps_dsp_parts.h. */
#include "cg_needs_dsp.h"

#define DW_TAPS            cg_depthwise_taps_s8_dsp
#define DW_TAPS_ROW        cg_depthwise_taps_s8_dsp_row
#define DW_TAPS_LOOP(part) cg_dw_##part##_dsp
#include "cg_depthwise_taps_dsp_parts.h"
