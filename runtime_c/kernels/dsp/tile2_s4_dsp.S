@ SPDX-License-Identifier: Apache-2.0
@ tile2_s4_dsp.S -- all output channels of two widened pixels, int4 weights, DSP extension:
@ cg_tile2_s4_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile2_s4_dsp.inc"

    two_pixels cg_tile2_s4_dsp
