/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fully_connected_s8_dsp.c -- one row of inputs times a weight matrix, int8, DSP extension.
 */
#include "cg_conv_dsp_parts.h"

/* Any alignment; from `count` on zeros, which meet weights that are zero, up to `values`. */
static void widen_bytes(const int8_t *input, int32_t count, cg_s16 *pixels, int32_t values)
{
    for (int32_t k = 0; k < values; k++) {
        pixels[cg_place_dsp(k)] = (int16_t)((k < count) ? input[k] : 0);
    }
}

void cg_fully_connected_s8_dsp(const cg_fc_params *params, const int32_t *stream, void *workspace,
                               const int8_t *input, int8_t *output)
{
    int32_t *const pixels = (int32_t *)workspace;
    const cg_tile_dsp tile = cg_fc_tile_dsp(params, stream, pixels);
    if ((params->in_len % 4) == 0) {
        cg_gather1_s8_dsp(input, pixels, tile.groups, 4);
    } else {
        widen_bytes(input, params->in_len, (cg_s16 *)pixels, 4 * tile.groups);
    }
    cg_tile1_s8_dsp(&tile, output);
}

void cg_fully_connected_widened_s8_dsp(const cg_fc_params *params, const int32_t *stream,
                                       void *workspace, int8_t *output)
{
    const cg_tile_dsp tile = cg_fc_tile_dsp(params, stream, (int32_t *)workspace);
    cg_tile1_s8_dsp(&tile, output);
}
