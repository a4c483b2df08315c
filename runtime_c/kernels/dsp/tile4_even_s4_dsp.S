@ SPDX-License-Identifier: Apache-2.0
@ tile4_even_s4_dsp.S -- the same as tile4_s4_dsp.S, rounded as ONNX does: cg_tile4_s4_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_tile4_s4_dsp.inc"

    four_pixels cg_tile4_even_s4_dsp
