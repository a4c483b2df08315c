/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_conv2d_columns_s8_mve.c -- the same as conv2d_columns_s8_mve.c, rounded as ONNX does. */
#include "cg_needs_mve.h"

#define CG_ROUND_EVEN
#include "cg_conv2d_columns_mve_parts.h"
