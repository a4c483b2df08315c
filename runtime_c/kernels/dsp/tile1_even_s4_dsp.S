@ SPDX-License-Identifier: Apache-2.0
@ tile1_even_s4_dsp.S -- the same as tile1_s4_dsp.S, rounded as ONNX does: cg_tile1_s4_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_tile1_s4_dsp.inc"

    one_pixel cg_tile1_even_s4_dsp
