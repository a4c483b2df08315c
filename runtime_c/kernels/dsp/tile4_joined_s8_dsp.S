@ SPDX-License-Identifier: Apache-2.0
@ tile4_joined_s8_dsp.S -- all output channels of four widened pixels, int8, DSP extension, by a joined
@ stream: cg_tile4_s8_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile4_s8_dsp.inc"

    four_pixels cg_tile4_joined_s8_dsp, 1
