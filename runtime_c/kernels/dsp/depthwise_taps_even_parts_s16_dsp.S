@ SPDX-License-Identifier: Apache-2.0
/* depthwise_taps_even_parts_s16_dsp.S -- the same, rounded as ONNX does: cg_dw_taps_loops_s16_dsp.inc. */
#include "cg_needs_dsp.h"
#include "cg_needs_fpu.h"
#define CG_ROUND_EVEN
#include "cg_dw_taps_loops_s16_dsp.inc"

    taps    cg_dw_taps9_words_even_s16_dsp, 9, 0
    taps    cg_dw_taps9_halves_even_s16_dsp, 9, 1
    taps    cg_dw_taps_words_even_s16_dsp, 0, 0
    taps    cg_dw_taps_halves_even_s16_dsp, 0, 1
