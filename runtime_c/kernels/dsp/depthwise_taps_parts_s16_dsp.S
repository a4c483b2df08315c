@ SPDX-License-Identifier: Apache-2.0
/* depthwise_taps_parts_s16_dsp.S -- depthwise convolution of int16 tap by tap: cg_dw_taps_loops_s16_dsp.inc. */
#include "cg_needs_dsp.h"
#include "cg_dw_taps_loops_s16_dsp.inc"

    taps    cg_dw_taps9_words_s16_dsp, 9, 0
    taps    cg_dw_taps9_halves_s16_dsp, 9, 1
    taps    cg_dw_taps_words_s16_dsp, 0, 0
    taps    cg_dw_taps_halves_s16_dsp, 0, 1
