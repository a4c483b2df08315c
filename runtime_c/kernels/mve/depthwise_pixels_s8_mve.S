@ SPDX-License-Identifier: Apache-2.0
@ depthwise_pixels_s8_mve.S -- pixels in a row, depthwise: cg_depthwise_pixels_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_depthwise_pixels_s8_mve
#include "cg_depthwise_pixels_mve.inc"
