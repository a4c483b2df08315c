/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd4_s8_dsp.c -- 3x3 convolution by Winograd's F(4x4, 3x3), int8, DSP extension: which
 * blocks are computed when. Transforms and sums are in winograd4_parts_s8_dsp.S.
 */
#include "cg_needs_dsp.h"

#include "cg_kernel_parts.h"
#include "cg_winograd_parts_dsp.h"

/* Words of the stream that four result channels take. */
static int32_t group_words(int32_t groups)
{
    return (36 * 2 * 4 * groups) + 12;
}

WINOGRAD_INLINE void start(cg_winograd_layer *self, const cg_conv_params *params,
                           const cg_winograd_weights_dsp *weights, void *workspace)
{
    const int32_t fours = (params->window.out.c + 3) / 4;
    cg_winograd_start_s8_dsp(self, params, 4);
    self->job.stream = weights->stream;
    int32_t *const pixels = (int32_t *)workspace;
    self->job.pixels = pixels;
    self->job.sums = &pixels[144 * self->block.groups];
    self->padding = weights->padding;
    self->patch = (int8_t *)&self->job.sums[192 + 32];
    self->job.stream_end = &weights->stream[fours * group_words(self->block.groups)];
}

/* Result rows from y on, at most four. */
WINOGRAD_INLINE void compute(cg_winograd_layer *self, int32_t *pixels, const cg_rows *image,
                             const cg_rows *result, int32_t y)
{
    cg_winograd_band_s8_dsp(self, image, result, y);
    for (int32_t x = 0; x < self->columns; x += 8) {
        cg_winograd_block_s8_dsp(self, x);
        cg_winograd4_pixels_s8_dsp(&self->block, pixels);
        cg_winograd_results_s8_dsp(self, x);
        cg_winograd4_tiles_s8_dsp(&self->job, 0);
    }
}

void cg_winograd4_s8_dsp_row(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                             void *workspace, const cg_rows *input, const cg_rows *output,
                             int32_t y, int32_t x_start, int32_t x_stop)
{
    cg_winograd_layer self; /* an initialiser would clear all of it */
    start(&self, params, weights, workspace);
    const cg_rows stripe = cg_winograd_stripe(&self, input->x_origin, output, x_start, x_stop);
    compute(&self, (int32_t *)workspace, input, &stripe, y);
}

void cg_winograd4_s8_dsp(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                         void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const cg_shape *const out = &window->out;
    cg_winograd_layer self; /* an initialiser would clear all of it */
    start(&self, params, weights, workspace);
    cg_rows image = cg_all_rows(&window->in, input);
    cg_rows result = cg_all_rows(out, output);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < out->h; y += 4) {
            compute(&self, (int32_t *)workspace, &image, &result, y);
        }
        image.base += cg_shape_elements(&window->in);
        result.base += cg_shape_elements(out);
    }
}
