@ SPDX-License-Identifier: Apache-2.0
@ tile1_s4_dsp.S -- all output channels of one widened pixel, int4 weights, DSP extension:
@ cg_tile1_s4_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile1_s4_dsp.inc"

    one_pixel cg_tile1_s4_dsp
