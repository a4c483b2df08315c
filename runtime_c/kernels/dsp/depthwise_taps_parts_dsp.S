@ SPDX-License-Identifier: Apache-2.0
/* depthwise_taps_parts_dsp.S -- depthwise convolution tap by tap: cg_dw_taps_loops_dsp.inc. */
#include "cg_needs_dsp.h"
#include "cg_dw_taps_loops_dsp.inc"

    taps    cg_dw_taps9_words_dsp, 9, 0
    taps    cg_dw_taps9_bytes_dsp, 9, 1
    taps    cg_dw_taps_words_dsp, 0, 0
    taps    cg_dw_taps_bytes_dsp, 0, 1
