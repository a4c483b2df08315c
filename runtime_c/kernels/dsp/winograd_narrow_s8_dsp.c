/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd_narrow_s8_dsp.c -- 3x3 convolution by Winograd's F(2x2, 3x3), int8, DSP extension, by
 * weights that stay int8 in flash: which of them are transformed when. The pixels of a few bands of
 * blocks are transformed first, then four result channels' weights at a time.
 */
#include "cg_needs_dsp.h"

#include "cg_kernel_parts.h"
#include "cg_winograd_parts_dsp.h"

/* Words of a group of four result channels, ready for its products. */
static int32_t group_words(int32_t groups)
{
    return 4 + (128 * groups) + 8;
}

/* Four channels' biases, weights and numbers, as the products read them. */
static const int8_t *fill_stream(const cg_winograd_layer *self, const int8_t *weights,
                                 const int32_t *numbers, int32_t *stream)
{
    const uint32_t shifts = (uint32_t)numbers[8];
    const uint32_t halves_up = (self->params->out_zero == -128) ? 0x80000000u : 0u;
    const int32_t groups = self->block.groups;
    int32_t *const last = &stream[4 + (128 * groups)];
    for (int32_t i = 0; i < 4; i++) {
        stream[i] = numbers[i];
        last[2 * i] = numbers[4 + i];
        last[(2 * i) + 1] = (int32_t)(((shifts >> (8 * i)) & 0xFFu) | halves_up);
    }
    return cg_winograd_filters_s8_dsp(weights, groups, &stream[4]);
}

static int32_t least(int32_t a, int32_t b)
{
    return (a < b) ? a : b;
}

/* Result rows from `top` to `bottom`: pixels, then all channels. */
static void compute(cg_winograd_layer *self, const cg_winograd_narrow_dsp *weights, int32_t *stream,
                    int32_t *pixels, const cg_rows *image, const cg_rows *result, int32_t top,
                    int32_t bottom)
{
    const cg_shape out = self->params->window.out;
    const int32_t block_words = 64 * self->block.groups;
    int32_t *to = pixels;
    for (int32_t y = top; y < bottom; y += 2) {
        cg_winograd_band_s8_dsp(self, image, result, y);
        for (int32_t x = 0; x < self->columns; x += 4) {
            cg_winograd_block_s8_dsp(self, x);
            cg_winograd_pixels_s8_dsp(&self->block, to);
            to += block_words;
        }
    }
    const int8_t *packed = weights->weights;
    const int32_t *numbers = weights->numbers;
    for (int32_t channel = 0; channel < out.c; channel += 4) {
        packed = fill_stream(self, packed, numbers, stream);
        numbers += 9;
        self->job.pixels = pixels;
        for (int32_t y = top; y < bottom; y += 2) {
            if (bottom - top > 2) {
                cg_winograd_band_s8_dsp(self, image, result, y);
            }
            for (int32_t x = 0; x < self->columns; x += 4) {
                if ((x == 0) || (self->job.is_part != 0) || (x + 4 > self->columns)) {
                    cg_winograd_results_s8_dsp(self, x);
                } else {
                    self->job.outputs[0] += 4 * out.c;
                    self->job.outputs[1] += 4 * out.c;
                }
                cg_winograd_narrow_tiles_s8_dsp(&self->job, channel);
                self->job.pixels += block_words;
            }
        }
    }
}

/* Place of pixels in the workspace; the stream is in front of them. */
WINOGRAD_INLINE int32_t *start(cg_winograd_layer *self, const cg_conv_params *params,
                               const cg_winograd_narrow_dsp *weights, void *workspace)
{
    const cg_window *const window = &params->window;
    cg_winograd_start_s8_dsp(self, params, 2);
    int32_t *const stream = (int32_t *)workspace;
    int32_t *const pixels = &stream[group_words(self->block.groups)];
    const int32_t blocks = ((window->out.w + 3) / 4) * (weights->rows / 2);
    int8_t *const edge = (int8_t *)&pixels[64 * self->block.groups * blocks];
    self->patch = edge;
    self->padding = edge;
    self->job.stream = stream;
    self->job.stream_end = pixels;
    if ((window->in.c % 4) == 0) {
        for (int32_t i = 0; i < 6 * window->in.c; i++) {
            edge[i] = (int8_t)params->in_zero;
        }
    }
    return pixels;
}

void cg_winograd_narrow_s8_dsp_row(const cg_conv_params *params,
                                   const cg_winograd_narrow_dsp *weights, void *workspace,
                                   const cg_rows *input, const cg_rows *output, int32_t y,
                                   int32_t x_start, int32_t x_stop)
{
    cg_winograd_layer self; /* an initialiser would clear all of it */
    int32_t *const pixels = start(&self, params, weights, workspace);
    const int32_t bottom = least(y + weights->rows, params->window.out.h);
    const cg_rows stripe = cg_winograd_stripe(&self, input->x_origin, output, x_start, x_stop);
    compute(&self, weights, (int32_t *)workspace, pixels, input, &stripe, y, bottom);
}

void cg_winograd_narrow_s8_dsp(const cg_conv_params *params, const cg_winograd_narrow_dsp *weights,
                               void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const cg_shape *const out = &window->out;
    cg_winograd_layer self; /* an initialiser would clear all of it */
    int32_t *const pixels = start(&self, params, weights, workspace);
    cg_rows image = cg_all_rows(&window->in, input);
    cg_rows result = cg_all_rows(out, output);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < out->h; y += weights->rows) {
            const int32_t bottom = least(y + weights->rows, out->h);
            compute(&self, weights, (int32_t *)workspace, pixels, &image, &result, y, bottom);
        }
        image.base += cg_shape_elements(&window->in);
        result.base += cg_shape_elements(out);
    }
}
