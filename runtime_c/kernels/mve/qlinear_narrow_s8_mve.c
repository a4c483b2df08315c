/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_narrow_s8_mve.c -- the same as narrow_s8_mve.c, rounded as ONNX does. */
#include "cg_needs_mve.h"

#define CG_ROUND_EVEN
#include "cg_narrow_mve_parts.h"
