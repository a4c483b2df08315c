@ SPDX-License-Identifier: Apache-2.0
@ tile4_s4_dsp.S -- all output channels of four widened pixels, int4 weights, DSP extension:
@ cg_tile4_s4_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile4_s4_dsp.inc"

    four_pixels cg_tile4_s4_dsp
