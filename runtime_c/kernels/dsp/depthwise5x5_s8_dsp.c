/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise5x5_s8_dsp.c -- see cg_depthwise_wide_dsp_parts.h. */
#include "cg_needs_dsp.h"

#define WIDE          cg_depthwise5x5_s8_dsp
#define TAPS          5
#define WIDE_ROWS     4
#define WIDE_PRODUCTS cg_dw5x5_s8_dsp
#include "cg_depthwise_wide_dsp_parts.h"
