@ SPDX-License-Identifier: Apache-2.0
@ depthwise_replace_even_s8_mve.S -- the same as depthwise_replace_s8_mve.S, rounded as ONNX does.
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#define NAME cg_depthwise_replace_even_s8_mve
#define CG_ROUND_EVEN
#include "cg_depthwise_replace_mve.inc"
