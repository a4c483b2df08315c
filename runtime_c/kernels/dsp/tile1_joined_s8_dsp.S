@ SPDX-License-Identifier: Apache-2.0
@ tile1_joined_s8_dsp.S -- all output channels of one widened pixel, int8, DSP extension, by a
@ joined stream: cg_tile1_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile1_dsp.inc"

    one_pixel cg_tile1_joined_s8_dsp, 1, 1
