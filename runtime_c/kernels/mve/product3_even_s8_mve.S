@ SPDX-License-Identifier: Apache-2.0
@ product3_even_s8_mve.S -- the same as product3_s8_mve.S, rounded as ONNX does.
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#define NAME cg_product3_even_s8_mve
#define CG_ROUND_EVEN
#include "cg_product3_mve.inc"
