/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_even_s8_dsp.c -- rounding as ONNX has it, for activations narrower than int8.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"
#include "cg_round_even.h"

void cg_requantize_even_s8_dsp(const cg_tile_dsp *tile, int32_t *sums, uint32_t scale_bits,
                               uint32_t shift)
{
    const int32_t count = (int32_t)(shift >> 8);
    for (int32_t i = 0; i < count; i++) {
        sums[i] = cg_store_even_s8(sums[i], (int32_t)scale_bits, 0, tile->out_zero, tile->act_min,
                                   tile->act_max);
    }
}
