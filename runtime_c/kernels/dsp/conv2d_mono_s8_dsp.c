/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d_mono_s8_dsp.c -- convolution of one input channel, stride 2 across, windows of three or
 * four columns, int8, DSP extension: the rows that the windows of five pixels cover are widened
 * once for all channels of the result, and kept for the rows of results below.
 */
#include "cg_needs_dsp.h"

#include "cg_conv_dsp_parts.h"

#define WORDS (CG_MONO_VALUES_DSP / 2)

/*
 * The rows of the windows of result row y, doubled, from image column `left` on; padding is the
 * zero point. But for the first y, those that the row above had are there. Not inlined and hardly
 * unrolled, which would take more code than it saves.
 */
__attribute__((noinline)) static void widen_rows(const cg_conv_params *params, const int8_t *input,
                                                 int32_t y, int32_t left, int32_t *rows)
{
    const cg_window *const window = &params->window;
    const int32_t both = window->kernel_h - window->stride_h;
    const int32_t kept = ((y > 0) && (both > 0)) ? both : 0;
    const int32_t *old = &rows[window->stride_h * WORDS];
    const uint32_t half = (uint32_t)(2 * params->in_zero) & 0xffffu;
    const int32_t zero = (int32_t)(half | (half << 16));
    const int32_t behind = window->in.w - left;
    const int32_t start = (left < 0) ? -left : 0;
    const int32_t stop = (behind < CG_MONO_VALUES_DSP) ? behind : CG_MONO_VALUES_DSP;
    int32_t at = (y * window->stride_h) - window->pad_top + kept;
#pragma GCC unroll 1
    for (int32_t pairs = kept * (WORDS / 2); pairs > 0; pairs--) {
        const int32_t first = old[0];
        const int32_t second = old[1];
        rows[0] = first;
        rows[1] = second;
        rows += 2;
        old += 2;
    }
#pragma GCC unroll 1
    for (int32_t left_rows = window->kernel_h - kept; left_rows > 0; left_rows--) {
        cg_s16 *to = (cg_s16 *)(void *)rows;
        for (int32_t i = 0; i < WORDS; i++) {
            *rows++ = zero;
        }
        if ((at >= 0) && (at < window->in.h)) {
            const int8_t *from = &input[(at * window->in.w) + left + start];
#pragma GCC unroll 2
            for (int32_t i = start; i < stop; i++) {
                to[i] = (int16_t)(2 * *from);
                from++;
            }
        }
        at++;
    }
}

void cg_conv2d_mono_s8_dsp(const cg_conv_params *params, const int32_t *stream, void *workspace,
                           const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->out.c;
    cg_mono_tile_dsp tile;
    tile.rows = window->kernel_h;
    tile.zero = (2 * params->out_zero) + 1;
    tile.stream = stream;
    tile.stream_end = &stream[channels * (window->kernel_h + 2)];
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            int32_t *rows = workspace;
            int32_t left = -window->pad_left;
            for (int32_t x = 0; x < window->out.w; x += CG_MONO_PIXELS_DSP) {
                widen_rows(params, input, y, left, rows);
                for (int32_t i = 1; i < CG_MONO_PIXELS_DSP; i++) {
                    tile.steps[i - 1] = ((x + i) < window->out.w) ? (i * channels) : 0;
                }
                tile.pixels = rows;
                cg_tile5_mono_s8_dsp(&tile, output);
                const int32_t behind = window->out.w - x;
                output += channels * ((behind < CG_MONO_PIXELS_DSP) ? behind : CG_MONO_PIXELS_DSP);
                rows += window->kernel_h * WORDS;
                left += 2 * CG_MONO_PIXELS_DSP;
            }
        }
        input += window->in.h * window->in.w;
    }
}
