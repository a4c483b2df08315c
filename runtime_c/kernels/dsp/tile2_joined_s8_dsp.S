@ SPDX-License-Identifier: Apache-2.0
@ tile2_joined_s8_dsp.S -- all output channels of two widened pixels, int8, DSP extension, by a joined
@ stream: cg_tile2_s8_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile2_s8_dsp.inc"

    two_pixels cg_tile2_joined_s8_dsp, 1
