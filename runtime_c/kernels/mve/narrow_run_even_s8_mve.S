@ SPDX-License-Identifier: Apache-2.0
@ narrow_run_even_s8_mve.S -- the same as narrow_run_s8_mve.S, rounded as ONNX does.
#include "cg_needs_mve.h"
#include "cg_needs_fpu.h"
#define NAME cg_narrow_run_even_s8_mve
#define CG_ROUND_EVEN
#include "cg_narrow_mve.inc"
