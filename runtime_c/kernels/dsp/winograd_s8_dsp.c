/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd_s8_dsp.c -- 3x3 convolution by Winograd's F(2x2, 3x3), int8, DSP extension: which blocks
 * are computed when. Transforms and sums are in winograd_parts_s8_dsp.S.
 */
#include "cg_kernel_parts.h"
#include "cg_winograd_parts_dsp.h"

#define BLOCK_ROWS    (CG_WINOGRAD_ROWS + CG_WINOGRAD_MARGIN)
#define BLOCK_COLUMNS (CG_WINOGRAD_COLUMNS + CG_WINOGRAD_MARGIN)

typedef struct {
    const cg_conv_params *params;
    const int8_t *padding;
    int8_t *patch;
    int32_t *pixels;
    cg_winograd_block block;
    cg_winograd_job job;
} layer;

/* Words of the stream that four result channels take. */
static int32_t group_words(int32_t groups)
{
    return 4 + (16 * 2 * 4 * groups) + 8;
}

static void start(layer *self, const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                  void *workspace)
{
    const cg_window *const window = &params->window;
    const int32_t groups = (window->in.c + 3) / 4;
    const uint32_t twice = (uint32_t)(2 * params->in_zero) & 0xFFFFu;
    self->params = params;
    self->padding = weights->padding;
    self->pixels = (int32_t *)workspace;
    self->patch = (int8_t *)&self->pixels[64 * groups];
    self->block.groups = groups;
    self->block.padding = (twice << 16) | twice;
    self->job.pixels = self->pixels;
    self->job.stream = weights->stream;
    self->job.stream_end = &weights->stream[((window->out.c + 3) / 4) * group_words(groups)];
    self->job.length = 64 * groups;
    self->job.step = window->out.c;
    self->job.row_step = window->out.w * window->out.c;
    self->job.tile.out_zero = params->out_zero;
    self->job.tile.act_min = params->act_min;
    self->job.tile.act_max = params->act_max;
}

/* A row of the block, the padding around it included, as whole groups of channels. */
static void fill_line(const layer *self, int8_t *line, const int8_t *row, int32_t x)
{
    const cg_window *const window = &self->params->window;
    const int32_t wide = 4 * self->block.groups;
    for (int32_t column = 0; column < BLOCK_COLUMNS; column++) {
        const int32_t at = x + column;
        const bool is_inside = (row != NULL) && (at >= 0) && (at < window->in.w);
        for (int32_t c = 0; c < wide; c++) {
            const bool is_there = is_inside && (c < window->in.c);
            line[c] = is_there ? row[(at * window->in.c) + c] : (int8_t)self->params->in_zero;
        }
        line += wide;
    }
}

/* The pixels of the block whose first result is (y, x). */
static void find_pixels(layer *self, const int8_t *image, int32_t y, int32_t x)
{
    const cg_window *const window = &self->params->window;
    cg_winograd_block *const block = &self->block;
    const bool by_words = (window->in.c % 4) == 0;
    const int32_t origin = x - window->pad_left;
    const int32_t inside = window->in.w - origin;
    const int32_t wanted = (inside < BLOCK_COLUMNS) ? inside : BLOCK_COLUMNS;
    block->first = (by_words && (origin < 0)) ? 1 : 0;
    block->count = by_words ? (wanted - block->first) : BLOCK_COLUMNS;
    block->count = (block->count > 0) ? block->count : 0;
    block->step = 4 * block->groups;
    int8_t *line = self->patch;
    for (int32_t i = 0; i < BLOCK_ROWS; i++) {
        const int32_t at = y + i - window->pad_top;
        const int8_t *row = NULL;
        if ((at >= 0) && (at < window->in.h)) {
            row = &image[at * window->in.w * window->in.c];
        }
        if (!by_words) {
            fill_line(self, line, row, origin);
            block->rows[i] = line;
            line += BLOCK_COLUMNS * block->step;
        } else if (row == NULL) {
            block->rows[i] = self->padding;
        } else {
            block->rows[i] = &row[(origin + block->first) * window->in.c];
        }
    }
}

/* What of the block is inside the result. */
static void find_results(layer *self, int32_t y, int32_t x)
{
    const cg_window *const window = &self->params->window;
    cg_winograd_job *const job = &self->job;
    const int32_t rows = window->out.h - y;
    const int32_t columns = window->out.w - x;
    job->rows = (rows < CG_WINOGRAD_ROWS) ? rows : CG_WINOGRAD_ROWS;
    job->columns = (columns < CG_WINOGRAD_COLUMNS) ? columns : CG_WINOGRAD_COLUMNS;
    const bool is_whole = (job->rows == CG_WINOGRAD_ROWS) &&
                          (job->columns == CG_WINOGRAD_COLUMNS) && ((window->out.c % 4) == 0);
    job->is_part = is_whole ? 0 : 1;
}

void cg_winograd_store_s8_dsp(const cg_winograd_job *job, const int8_t *results, int8_t *output)
{
    const int32_t left = job->step - (int32_t)(output - job->output);
    const int32_t channels = (left < 4) ? left : 4;
    for (int32_t row = 0; row < job->rows; row++) {
        int8_t *to = output;
        for (int32_t column = 0; column < job->columns; column++) {
            for (int32_t c = 0; c < channels; c++) {
                to[c] = results[(4 * column) + c];
            }
            to += job->step;
        }
        results += 4 * CG_WINOGRAD_COLUMNS;
        output += job->row_step;
    }
}

void cg_winograd_s8_dsp(const cg_conv_params *params, const cg_winograd_weights_dsp *weights,
                        void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    layer self; /* an initialiser would clear all of it */
    start(&self, params, weights, workspace);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y += CG_WINOGRAD_ROWS) {
            for (int32_t x = 0; x < window->out.w; x += CG_WINOGRAD_COLUMNS) {
                int8_t *const results = &output[((y * window->out.w) + x) * window->out.c];
                find_pixels(&self, input, y, x);
                cg_winograd_pixels_s8_dsp(&self.block, self.pixels);
                find_results(&self, y, x);
                self.job.output = results;
                cg_winograd_tiles_s8_dsp(&self.job, results);
            }
        }
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}
