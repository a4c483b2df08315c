/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_rgb_s8_dsp.c -- 3x3 convolution of stride 2 on three input channels, int8, DSP extension:
 * the rows that the windows of four pixels cover are widened once for all channels of the result.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"

enum { ROWS = 3, TILE_BYTES = 24 };

/* Sets where the results of a tile of `count` pixels go. */
static void place_results(cg_rgb_tile_dsp *tile, int32_t count, int32_t channels)
{
    for (int32_t i = 1; i < CG_RGB_PIXELS_DSP; i++) {
        tile->steps[i - 1] = (i < count) ? (i * channels) : 0;
    }
}

void cg_conv2d_rgb_s8_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                          const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->out.c;
    const int32_t row_bytes = window->in.w * window->in.c;
    const int32_t zero = (int32_t)(0x01010101u * ((uint32_t)params->in_zero & 0xffu));
    int32_t padding[CG_RGB_WORDS_DSP / 2];
    cg_rgb_tile_dsp tile;
    for (int32_t i = 0; i < (CG_RGB_WORDS_DSP / 2); i++) {
        padding[i] = zero;
    }
    tile.pixels = workspace;
    tile.stream = stream;
    tile.stream_end = &stream[channels * CG_RGB_CHANNEL_WORDS_DSP];
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            const int8_t *rows[ROWS + 1];
            int32_t steps[ROWS];
            int32_t at = (y * window->stride_h) - window->pad_top;
            int8_t *results = output;
            for (int32_t row = 0; row < ROWS; row++) {
                const bool is_inside = (at >= 0) && (at < window->in.h);
                rows[row] = is_inside ? &input[at * row_bytes] : (const int8_t *)padding;
                steps[row] = is_inside ? TILE_BYTES : 0;
                at++;
            }
            rows[ROWS] = NULL;
            place_results(&tile, CG_RGB_PIXELS_DSP, channels);
            int32_t behind = row_bytes - TILE_BYTES;
            for (int32_t left = window->out.w;; left -= CG_RGB_PIXELS_DSP) {
                cg_widen_rgb_s8_dsp(rows, workspace, zero, behind);
                if (left < CG_RGB_PIXELS_DSP) {
                    place_results(&tile, left, channels);
                }
                cg_tile4_rgb_s8_dsp(&tile, results);
                if (left <= CG_RGB_PIXELS_DSP) {
                    break;
                }
                results += CG_RGB_PIXELS_DSP * channels;
                for (int32_t row = 0; row < ROWS; row++) {
                    rows[row] += steps[row];
                }
                behind -= TILE_BYTES;
            }
            output += window->out.w * channels;
        }
        input += window->in.h * row_bytes;
    }
}
