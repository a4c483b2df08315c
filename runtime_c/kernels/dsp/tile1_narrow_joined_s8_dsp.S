@ SPDX-License-Identifier: Apache-2.0
@ tile1_narrow_joined_s8_dsp.S -- all output channels of one pixel that is read as it is, int8, DSP
@ extension, by a joined stream: cg_tile1_dsp.inc.
#include "cg_needs_dsp.h"
#include "cg_tile1_dsp.inc"

    one_pixel cg_tile1_narrow_joined_s8_dsp, 0, 1
