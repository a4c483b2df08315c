/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd_blocks_s8_dsp.c -- 3x3 convolution by Winograd, int8, DSP extension: what a block of
 * results reads and writes, for all sizes of tiles.
 */
#include "cg_needs_dsp.h"

#include "cg_kernel_parts.h"
#include "cg_winograd_parts_dsp.h"

void cg_winograd_start_s8_dsp(cg_winograd_layer *self, const cg_conv_params *params, int32_t rows)
{
    const cg_window *const window = &params->window;
    const int32_t groups = (window->in.c + 3) / 4;
    const int32_t factor = (rows == 4) ? 6 : 2;
    const uint32_t padding = (uint32_t)(factor * params->in_zero) & 0xFFFFu;
    self->params = params;
    self->columns = window->out.w;
    self->shift = window->pad_left;
    self->width = window->in.w;
    self->block.groups = groups;
    self->block.step = 4 * groups;
    self->block.padding = (padding << 16) | padding;
    self->job.length = 16 * (rows + CG_WINOGRAD_MARGIN) * groups;
    self->job.step = window->out.c;
    self->job.block_columns = 2 * rows;
    self->job.tile.out_zero = params->out_zero;
    self->job.tile.act_min = params->act_min;
    self->job.tile.act_max = params->act_max;
}

/* A row of the block, the padding around it included, as whole groups of channels. */
static void fill_line(const cg_winograd_layer *self, int8_t *line, const int8_t *row, int32_t x)
{
    const cg_window *const window = &self->params->window;
    const int32_t wide = 4 * self->block.groups;
    for (int32_t column = 0; column < self->job.block_columns + CG_WINOGRAD_MARGIN; column++) {
        const int32_t at = x + column;
        const bool is_inside = (row != NULL) && (at >= 0) && (at < self->width);
        for (int32_t c = 0; c < wide; c++) {
            const bool is_there = is_inside && (c < window->in.c);
            line[c] = is_there ? row[(at * window->in.c) + c] : (int8_t)self->params->in_zero;
        }
        line += wide;
    }
}

void cg_winograd_band_s8_dsp(cg_winograd_layer *self, const cg_rows *image, const cg_rows *result,
                             int32_t y)
{
    const cg_window *const window = &self->params->window;
    const int32_t most = cg_winograd_rows(self);
    const int32_t rows = window->out.h - y;
    for (int32_t i = 0; i < most + CG_WINOGRAD_MARGIN; i++) {
        const int32_t at = y + i - window->pad_top;
        const bool is_inside = (at >= 0) && (at < window->in.h);
        const size_t offset = is_inside ? cg_rows_offset(image, at, image->x_origin) : 0;
        self->lines[i] = is_inside ? &image->base[offset] : NULL;
    }
    self->job.rows = (rows < most) ? rows : most;
    for (int32_t row = 0; row < self->job.rows; row++) {
        /* The result is written: only its reader calls it constant. */
        const size_t offset = cg_rows_offset(result, y + row, 0);
        self->results[row] = (int8_t *)(uintptr_t)&result->base[offset];
    }
}

void cg_winograd_block_s8_dsp(cg_winograd_layer *self, int32_t x)
{
    const cg_window *const window = &self->params->window;
    cg_winograd_block *const block = &self->block;
    const bool by_words = (window->in.c % 4) == 0;
    const int32_t columns = self->job.block_columns + CG_WINOGRAD_MARGIN;
    const int32_t origin = x - self->shift;
    const int32_t inside = self->width - origin;
    const int32_t wanted = (inside < columns) ? inside : columns;
    block->first = (by_words && (origin < 0)) ? 1 : 0;
    block->count = by_words ? (wanted - block->first) : columns;
    block->count = (block->count > 0) ? block->count : 0;
    const int32_t offset = (origin + block->first) * window->in.c;
    int8_t *line = self->patch;
    for (int32_t i = 0; i < cg_winograd_rows(self) + CG_WINOGRAD_MARGIN; i++) {
        const int8_t *const row = self->lines[i];
        if (!by_words) {
            fill_line(self, line, row, origin);
            block->rows[i] = line;
            line += columns * block->step;
        } else {
            block->rows[i] = (row == NULL) ? self->padding : &row[offset];
        }
    }
}

void cg_winograd_results_s8_dsp(cg_winograd_layer *self, int32_t x)
{
    const cg_window *const window = &self->params->window;
    cg_winograd_job *const job = &self->job;
    const int32_t columns = self->columns - x;
    job->columns = (columns < job->block_columns) ? columns : job->block_columns;
    const bool is_whole = (job->rows == cg_winograd_rows(self)) &&
                          (columns >= job->block_columns) && ((window->out.c % 4) == 0);
    job->is_part = is_whole ? 0 : 1;
    for (int32_t row = 0; row < job->rows; row++) {
        job->outputs[row] = &self->results[row][x * window->out.c];
    }
}

void cg_winograd_store_s8_dsp(const cg_winograd_job *job, const int8_t *results, int32_t channel)
{
    const int32_t left = job->step - channel;
    const int32_t channels = (left < 4) ? left : 4;
    for (int32_t row = 0; row < job->rows; row++) {
        int8_t *to = &job->outputs[row][channel];
        for (int32_t column = 0; column < job->columns; column++) {
            for (int32_t c = 0; c < channels; c++) {
                to[c] = results[(4 * column) + c];
            }
            to += job->step;
        }
        results += 4 * job->block_columns;
    }
}
