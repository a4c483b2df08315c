/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depthwise_s8_v6m.c -- depthwise convolution, int8, ARMv6-M: any window, strides, padding and
 * number of results a channel.
 *
 * For each two rows of the result (or the two parts of a single row), channel by channel: the
 * pixels of all windows are paired to lines in the workspace, column by column, so that a window is
 * one run of words; depthwise_parts_v6m.S does that and the rest. Columns in the padding of both
 * are the same for all channels and filled in once.
 */
#include "cg_needs_v6m.h"

#include "cg_depthwise_v6m_parts.h"
#include "cg_kernel_parts.h"

#define NINE 9

/* Columns [start, stop) of lines, where the pixels of a half are all inside or all in the padding.
 */
typedef struct {
    int32_t start;
    int32_t stop;
    int32_t is_lower; /* inside */
    int32_t is_upper;
} dw_part;

typedef struct {
    cg_dw_v6m dw;
    const cg_dw_v6m_params *params;
    cg_dw_run_v6m *runs; /* of all rows of taps */
    int32_t *lines;
    int32_t columns; /* of lines */
    int32_t part_count;
    dw_part parts[3];
} dw_layer;

/* The windows of one half of the words: from result row y and, in its image, column x on. */
typedef struct {
    int32_t y;
    int32_t x;
} dw_half;

static int32_t clamp_column(int32_t column, int32_t most)
{
    return (column < 0) ? 0 : ((column > most) ? most : column);
}

/*
 * For `results` windows of a half, in a workspace made for `most`; lines lie at its end, so that
 * its end is used. `parts`: runs of a row of taps, at most.
 */
static void start(dw_layer *self, const cg_dw_v6m_params *params, void *workspace, int32_t results,
                  int32_t most, int32_t parts)
{
    const cg_window *const window = &params->window;
    const int32_t tap_count = window->kernel_h * window->kernel_w;
    const int32_t step = window->stride_w * window->kernel_h;
    self->params = params;
    self->runs = (cg_dw_run_v6m *)workspace;
    int32_t *const table = (int32_t *)(void *)&self->runs[parts * window->kernel_h];
    self->dw.taps = table;
    self->columns = ((results - 1) * window->stride_w) + window->kernel_w;
    self->lines = &table[((tap_count + 3) & ~3) + ((most - results) * step)];
    self->dw.tile.pixels = self->lines;
    self->dw.tile.row_bytes = (tap_count + 3) & ~3;
    self->dw.tile.middle = params->middle;
    self->dw.tile.act_min = params->act_min;
    self->dw.tile.act_max = params->act_max;
    self->dw.tile.out_zero = params->out_zero;
    self->dw.lines_end = &self->lines[results * step];
    self->dw.tap_bytes = 4 * (tap_count + (tap_count % 2));
    self->dw.rest = (4 * step) - self->dw.tap_bytes;
    self->dw.out_step = window->out.c;
    const int32_t zero = *params->padding;
    const int32_t pair = (int32_t)((uint32_t)zero + ((uint32_t)zero << 16));
    const int32_t words = (self->columns * window->kernel_h) + (tap_count % 2);
    for (int32_t i = 0; i < words; i++) {
        self->lines[i] = pair;
    }
}

/*
 * Columns that are not in the padding of both halves, in at most three parts. `lower` is where the
 * lower half's first column lies in the image, `upper` is not below it.
 */
static void find_parts(dw_layer *self, int32_t lower, int32_t upper)
{
    const int32_t width = self->params->window.in.w;
    const int32_t lower_start = clamp_column(-lower, self->columns);
    const int32_t lower_stop = clamp_column(width - lower, self->columns);
    const int32_t upper_start = clamp_column(-upper, self->columns);
    const int32_t upper_stop = clamp_column(width - upper, self->columns);
    const int32_t both = (lower_start < upper_stop) ? lower_start : upper_stop;
    const dw_part every[3] = {
        {upper_start, both, 0, 1},
        {lower_start, upper_stop, 1, 1},
        {(lower_start > upper_stop) ? lower_start : upper_stop, lower_stop, 1, 0},
    };
    self->part_count = 0;
    for (int32_t i = 0; i < 3; i++) {
        if (every[i].start < every[i].stop) {
            self->parts[self->part_count] = every[i];
            self->part_count++;
        }
    }
}

/* The row of taps ky of result row y, from the line's column x_origin on; NULL in the padding. */
static const int8_t *find_line(const cg_window *window, const cg_rows *input, int32_t y, int32_t ky)
{
    const int32_t row = (y * window->stride_h) - window->pad_top + (ky * window->dilation_h);
    if ((row < 0) || (row >= window->in.h)) {
        return NULL;
    }
    const int32_t line = (row < input->ring_rows) ? row : (row % input->ring_rows); /* slow */
    return &input->base[line * input->row_bytes];
}

/* The runs of rows of taps from `ky` on; behind the last one. */
static cg_dw_run_v6m *find_runs(const dw_layer *self, const cg_rows *input, const dw_half *lower,
                                const dw_half *upper, int32_t ky)
{
    const cg_window *const window = &self->params->window;
    const int32_t height = window->kernel_h;
    const int32_t pixel = window->in.c;
    const int32_t lower_x = lower->x - input->x_origin;
    const int32_t upper_x = upper->x - input->x_origin;
    const int8_t *const padding = self->params->padding;
    cg_dw_run_v6m *run = self->runs;
    for (; ky < height; ky++) {
        const int8_t *const lower_line = find_line(window, input, lower->y, ky);
        const int8_t *const upper_line =
            (upper->y == lower->y) ? lower_line : find_line(window, input, upper->y, ky);
        const dw_part *part = self->parts;
        for (const dw_part *const end = &part[self->part_count]; part != end; part++) {
            const int32_t has_lower = part->is_lower && (lower_line != NULL);
            const int32_t has_upper = part->is_upper && (upper_line != NULL);
            run->lower = has_lower ? &lower_line[(lower_x + part->start) * pixel] : padding;
            run->upper = has_upper ? &upper_line[(upper_x + part->start) * pixel] : padding;
            run->lower_step = has_lower ? pixel : 0;
            run->upper_step = has_upper ? pixel : 0;
            run->pairs = &self->lines[(part->start * height) + ky];
            run->pairs_end = &self->lines[(part->stop * height) + ky];
            run++;
        }
    }
    return run;
}

static void pair_runs(const dw_layer *self, const cg_dw_run_v6m *end, int32_t channel)
{
    if (end != self->runs) {
        cg_dw_pair_v6m(self->runs, end, 4 * self->params->window.kernel_h, channel);
    }
}

/* All results of a channel of the result; the next one in the stream. */
static const int32_t *run_channel(const dw_layer *self, const int32_t *stream, int8_t *output)
{
    const cg_window *const window = &self->params->window;
    if ((window->kernel_h * window->kernel_w) == NINE) {
        return cg_dw_channel9_v6m(&self->dw, stream, output);
    }
    return cg_dw_channel_v6m(&self->dw, stream, output);
}

/* All results of the windows of both halves. */
static void run_halves(dw_layer *self, const cg_rows *input, const dw_half *lower,
                       const dw_half *upper, int8_t *output)
{
    const cg_window *const window = &self->params->window;
    const int32_t multiplier = window->out.c / window->in.c;
    const cg_dw_run_v6m *const end = find_runs(self, input, lower, upper, 0);
    const int32_t *stream = self->params->stream;
    for (int32_t c = 0; c < window->in.c; c++) {
        pair_runs(self, end, c);
        for (int32_t m = 0; m < multiplier; m++) {
            stream = run_channel(self, stream, output);
            output++;
        }
    }
}

void cg_depthwise_s8_v6m_row(const cg_dw_v6m_params *params, void *workspace, const cg_rows *input,
                             int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const int32_t results = ((x_stop - x_start) + 1) / 2;
    const int32_t behind = (x_stop - x_start) - results;
    const int32_t column = (x_start * window->stride_w) - window->pad_left;
    dw_layer self;
    start(&self, params, workspace, results, (window->out.w + 1) / 2, 3);
    self.dw.out_half = behind * window->out.c;
    const dw_half lower = {y, column};
    const dw_half upper = {y, column + (behind * window->stride_w)};
    find_parts(&self, lower.x, upper.x);
    run_halves(&self, input, &lower, &upper, output);
}

void cg_depthwise_s8_v6m(const cg_dw_v6m_params *params, void *workspace, const int8_t *input,
                         int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t row_bytes = window->out.w * window->out.c;
    dw_layer self;
    start(&self, params, workspace, window->out.w, window->out.w, 1);
    find_parts(&self, -window->pad_left, -window->pad_left);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y += 2) {
            const int32_t has_upper = (y + 1) < window->out.h;
            const dw_half lower = {y, -window->pad_left};
            const dw_half upper = {y + has_upper, -window->pad_left};
            self.dw.out_half = has_upper ? row_bytes : 0;
            run_halves(&self, &rows, &lower, &upper, output);
            output += (1 + has_upper) * row_bytes;
        }
        input += cg_shape_elements(&window->in);
    }
}

/* Moves lines that the next two rows of windows share with these: all rows of taps but two. */
static void shift_lines(const dw_layer *self)
{
    const int32_t height = self->params->window.kernel_h;
    const int32_t *const end = &self->lines[self->columns * height];
    for (int32_t ky = 0; ky < (height - 2); ky++) {
        for (int32_t *word = &self->lines[ky]; word < end; word += height) {
            word[0] = word[2];
        }
    }
}

/* The lower halves in both: of a last row that is alone. */
static void double_lines(const dw_layer *self)
{
    const int32_t words = self->columns * self->params->window.kernel_h;
    for (int32_t i = 0; i < words; i++) {
        const uint32_t lower = (uint32_t)(int32_t)(int16_t)self->lines[i];
        self->lines[i] = (int32_t)(lower + (lower << 16));
    }
}

/* True if the rows of taps from `ky` on of result rows y and y + 1 lie all in the image. */
static int32_t is_inside(const cg_window *window, int32_t y, int32_t ky)
{
    const int32_t top = y - window->pad_top + ky;
    return (top >= 0) && ((y + window->kernel_h - window->pad_top) < window->in.h);
}

/* Moves runs two rows further down: much less work than finding them. */
static void move_runs(const dw_layer *self, const cg_dw_run_v6m *end, int32_t bytes)
{
    for (cg_dw_run_v6m *run = self->runs; run != end; run++) {
        run->lower += bytes;
        run->upper += bytes;
    }
}

/* One channel of an image, from the first two rows to the last. */
static const int32_t *replace_channel(dw_layer *self, const cg_rows *rows, const int32_t *stream,
                                      int8_t *image, int32_t channel)
{
    const cg_window *const window = &self->params->window;
    const int32_t row_bytes = window->out.w * window->out.c;
    const int32_t kept = (window->kernel_h > 2) ? (window->kernel_h - 2) : 0;
    const int32_t *next = stream;
    const cg_dw_run_v6m *end = self->runs;
    int32_t was_inside = 0;
    for (int32_t y = 0; y < window->out.h; y += 2) {
        const int32_t has_upper = (y + 1) < window->out.h;
        const int32_t ky = (y > 0) ? kept : 0;
        const int32_t inside = is_inside(window, y, kept);
        if (ky > 0) {
            shift_lines(self);
        }
        /* The first band's runs are of all rows of taps. */
        if (inside && was_inside) {
            move_runs(self, end, 2 * row_bytes);
        } else {
            const dw_half lower = {y, -window->pad_left};
            const dw_half upper = {y + 1, -window->pad_left};
            end = find_runs(self, rows, &lower, &upper, ky);
        }
        was_inside = inside && (ky == kept);
        pair_runs(self, end, channel);
        if (!has_upper) {
            double_lines(self);
        }
        self->dw.out_half = has_upper ? row_bytes : 0;
        next = run_channel(self, stream, &image[(y * row_bytes) + channel]);
    }
    return next;
}

void cg_depthwise_in_place_s8_v6m(const cg_dw_v6m_params *params, void *workspace, int8_t *image)
{
    const cg_window *const window = &params->window;
    dw_layer self;
    start(&self, params, workspace, window->out.w, window->out.w, 1);
    find_parts(&self, -window->pad_left, -window->pad_left);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, image);
        const int32_t *stream = params->stream;
        for (int32_t c = 0; c < window->in.c; c++) {
            stream = replace_channel(&self, &rows, stream, image, c);
        }
        image += cg_shape_elements(&window->in);
    }
}
