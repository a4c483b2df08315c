@ SPDX-License-Identifier: Apache-2.0
@ tile_even_s16_dsp.S -- all output channels of four pixels or of one, int16 image, int8 weights, DSP
@ extension and FPU, rounded as ONNX does: cg_tile_s16_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_tile_s16_dsp.inc"

    four_pixels cg_tile4_even_s16_dsp

    one_pixel cg_tile1_even_s16_dsp
