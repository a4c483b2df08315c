@ SPDX-License-Identifier: Apache-2.0
@ tile_s16_dsp.S -- all output channels of four pixels or of one, int16 image, int8 weights, DSP
@ extension: cg_tile_s16_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile_s16_dsp.inc"

    four_pixels cg_tile4_s16_dsp

    one_pixel cg_tile1_s16_dsp
