/* SPDX-License-Identifier: Apache-2.0 */
/* qlinear_dense_s8_mve.c -- the same as dense_s8_mve.c, rounded as ONNX does. */
#include "cg_needs_mve.h"

#define CG_ROUND_EVEN
#define CG_DENSE
#include "cg_pointwise_mve_parts.h"
