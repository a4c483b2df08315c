/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_narrow_joined_s8_dsp.c -- one row of inputs times a weight matrix, int8, DSP
 * extension, by a joined stream, without a workspace.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"

void cg_fully_connected_narrow_joined_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                             const int8_t *input, int8_t *output)
{
    const cg_tile_dsp tile = cg_fc_tile_dsp(params, stream, (const int32_t *)(const void *)input);
    cg_tile1_narrow_joined_s8_dsp(&tile, output);
}
