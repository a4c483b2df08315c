/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise7x7_s8_dsp.c -- see cg_depthwise_wide_dsp_parts.h. */
#include "cg_needs_dsp.h"

#define WIDE          cg_depthwise7x7_s8_dsp
#define TAPS          7
#define WIDE_ROWS     2
#define WIDE_PRODUCTS cg_dw7x7_s8_dsp
#include "cg_depthwise_wide_dsp_parts.h"
