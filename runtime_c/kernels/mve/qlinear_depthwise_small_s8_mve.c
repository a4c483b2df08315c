/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_depthwise_small_s8_mve.c -- the same as depthwise_small_s8_mve.c, rounded as ONNX does.
 */
#include "cg_needs_mve.h"

#define CG_ROUND_EVEN
#include "cg_depthwise_small_mve_parts.h"
