@ SPDX-License-Identifier: Apache-2.0
@ tile1_narrow_even_s8_dsp.S -- all output channels of one pixel that is read as it is, int8, DSP extension, rounded as
@ ONNX does: cg_tile1_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_tile1_dsp.inc"

    one_pixel cg_tile1_narrow_even_s8_dsp, 0
