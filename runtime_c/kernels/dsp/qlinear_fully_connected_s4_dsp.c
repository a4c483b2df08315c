/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_fully_connected_s4_dsp.c -- one row of inputs times a matrix of int4 weights, rounded as
 * ONNX does, DSP extension and FPU.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"

void cg_qlinear_fully_connected_s4_dsp(const cg_fc_params *params, const int32_t *stream,
                                       void *workspace, const int8_t *input, int8_t *output)
{
    int32_t *const pixels = (int32_t *)workspace;
    cg_tile_dsp tile = cg_fc_tile_dsp(params, stream, pixels);
    tile.pairs_end = cg_stream_end_s4_dsp(stream, params->out_len, tile.groups);
    cg_widen_row_dsp(input, params->in_len, pixels);
    cg_tile1_even_s4_dsp(&tile, output);
}
