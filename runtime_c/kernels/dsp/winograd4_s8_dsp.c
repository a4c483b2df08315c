/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd4_s8_dsp.c -- 3x3 convolution by Winograd's F(4x4, 3x3), int8, DSP extension: which
 * blocks are computed when. Transforms and sums are in winograd4_parts_s8_dsp.S.
 */
#include "cg_kernel_parts.h"
#include "cg_winograd_parts_dsp.h"

/* Words of the stream that four result channels take. */
static int32_t group_words(int32_t groups)
{
    return (36 * 2 * 4 * groups) + 12;
}

void cg_winograd4_s8_dsp(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                         void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const cg_shape out = window->out;
    cg_winograd_layer self; /* an initialiser would clear all of it */
    cg_winograd_start_s8_dsp(&self, params, 4);
    self.padding = weights->padding;
    self.job.stream = weights->stream;
    int32_t *const pixels = (int32_t *)workspace;
    self.job.pixels = pixels;
    self.job.sums = &pixels[144 * self.block.groups];
    self.patch = (int8_t *)&self.job.sums[192 + 32];
    self.job.stream_end = &weights->stream[((out.c + 3) / 4) * group_words(self.block.groups)];
    cg_rows image = cg_all_rows(&window->in, input);
    cg_rows result = cg_all_rows(&out, output);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < out.h; y += 4) {
            cg_winograd_band_s8_dsp(&self, &image, &result, y);
            for (int32_t x = 0; x < out.w; x += 8) {
                cg_winograd_block_s8_dsp(&self, x);
                cg_winograd4_pixels_s8_dsp(&self.block, pixels);
                cg_winograd_results_s8_dsp(&self, x);
                cg_winograd4_tiles_s8_dsp(&self.job, 0);
            }
        }
        image.base += cg_shape_elements(&window->in);
        result.base += cg_shape_elements(&out);
    }
}
