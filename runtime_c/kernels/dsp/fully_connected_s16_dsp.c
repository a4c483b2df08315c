/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s16_dsp.c -- rows of int16 inputs times an int8 weight matrix, DSP extension.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_s16_dsp.h"

void cg_fully_connected_s16_dsp(const cg_fc_params *params, const int32_t *stream,
                                const cg_s16 *input, cg_s16 *output)
{
    cg_tile_s16_dsp tile = cg_tile_of_s16_dsp(stream, params->in_len, params->out_len,
                                              params->act_min, params->act_max);
    for (int32_t row = 0; row < params->rows; row++) {
        tile.pixels = (const cg_s32 *)(const void *)input;
        cg_tile1_s16_dsp(&tile, output);
        input += params->in_len;
        output += params->out_len;
    }
}
