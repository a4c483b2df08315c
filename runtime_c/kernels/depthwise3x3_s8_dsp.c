/*
 * depthwise3x3_s8_dsp.c -- 3x3 depthwise convolution, int8, DSP extension: which pixels are widened
 * when, which rows are computed from them. The inner loops are in depthwise3x3_parts_dsp.S.
 */
#include "cg_depthwise_dsp.h"

#define BAND_ROWS  4
#define BAND_LINES 6 /* image rows that a band of results reads */

/* A stripe of columns: how its lines are widened, how its results are stored. */
typedef struct {
    const cg_dw3x3_params *params;
    int32_t first; /* its first image column, counted from where rows begin */
    cg_dw_line line;
    cg_dw_job job;
} stripe;

/* Columns from x_start on, up to x_stop or as many as the tile has. */
static void start_stripe(stripe *self, const cg_dw_tile *tile, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &self->params->window;
    const int32_t left = x_stop - x_start;
    const int32_t columns = (left < tile->columns) ? left : tile->columns;
    const int32_t origin = (x_start * window->stride_w) - window->pad_left;
    const int32_t needed = ((columns - 1) * window->stride_w) + 3;
    const int32_t lead = (origin < 0) ? 1 : 0;
    const int32_t first = origin + lead;
    const int32_t inside = (first < window->in.w) ? (window->in.w - first) : 0;
    const int32_t count = (inside < (needed - lead)) ? inside : (needed - lead);
    const int32_t pairs = (lead + count) / 2;
    self->first = first;
    self->line = (cg_dw_line){
        .plane_bytes = tile->plane_bytes,
        .pairs = pairs,
        .lead = lead,
        .odd = (lead + count) % 2,
        .rest = ((needed + 1) / 2) - pairs,
        .pad = (uint32_t)(uint8_t)self->params->in_zero * 0x01010101u,
    };
    self->job = (cg_dw_job){
        .plane_bytes = tile->plane_bytes,
        .columns = columns,
        .rows = 1,
        .step = window->out.c,
        .line_bytes = window->out.w * window->out.c,
        .out_zero = self->params->out_zero,
    };
}

/*
 * An image row into its line of the planes. `row`: the image's row at column 0 and the group's
 * first channel; NULL: padding.
 */
static void widen6(const stripe *self, const int8_t *row, int32_t *planes)
{
    const int32_t channels = self->params->window.in.c;
    const int32_t step = (row == NULL) ? 0 : channels;
    const int8_t *const pixels =
        (row == NULL) ? (const int8_t *)&self->line.pad : &row[self->first * step];
    if ((channels % 4) == 0) {
        cg_dw_widen6_words_dsp(&self->line, pixels, planes, step);
    } else {
        cg_dw_widen6_bytes_dsp(&self->line, pixels, planes, step);
    }
}

static void widen3(const stripe *self, const int8_t *row, int32_t *planes)
{
    const int32_t channels = self->params->window.in.c;
    const int32_t step = (row == NULL) ? 0 : channels;
    const int8_t *const pixels =
        (row == NULL) ? (const int8_t *)&self->line.pad : &row[self->first * step];
    if ((channels % 4) == 0) {
        cg_dw_widen3_words_dsp(&self->line, pixels, planes, step);
    } else {
        cg_dw_widen3_bytes_dsp(&self->line, pixels, planes, step);
    }
}

/* First channel that is read with channel c: the last four are read together. */
static int32_t group_start(const cg_dw3x3_params *params, int32_t c)
{
    const int32_t last = params->window.in.c - 4;
    return (c < last) ? c : last;
}

static int32_t group_count(const cg_dw3x3_params *params, int32_t c)
{
    const int32_t left = params->window.in.c - c;
    return (left < 4) ? left : 4;
}

static const int32_t *channel_words(const cg_dw3x3_params *params, int32_t c)
{
    return &params->channels[c * CG_DW3X3_WORDS];
}

/* Image row y, or NULL in the padding. */
static const int8_t *image_row(const cg_window *window, const int8_t *image, int32_t y)
{
    if ((y < 0) || (y >= window->in.h)) {
        return NULL;
    }
    return &image[y * window->in.w * window->in.c];
}

static int32_t *plane_of(const stripe *self, int32_t *planes, int32_t c)
{
    return &planes[(c - group_start(self->params, c)) * (self->job.plane_bytes / 4)];
}

/* Lines [from, rows + 2) of the band of result rows y to y + rows, of the channels with c. */
static void widen_band(const stripe *self, const int8_t *image, int32_t *planes, int32_t y,
                       int32_t from, int32_t c)
{
    const cg_window *const window = &self->params->window;
    for (int32_t line = from; line < (self->job.rows + 2); line++) {
        const int8_t *row = image_row(window, image, y + line - window->pad_top);
        if (row != NULL) {
            row += group_start(self->params, c);
        }
        widen6(self, row, &planes[line]);
    }
}

static void compute_band(stripe *self, int32_t *planes, int8_t *output, int32_t c)
{
    self->job.count = group_count(self->params, c);
    cg_dw3x3_s8_dsp_plane(&self->job, plane_of(self, planes, c), channel_words(self->params, c),
                          &output[c]);
}

static int32_t band_rows(const cg_window *window, int32_t y)
{
    const int32_t left = window->out.h - y;
    return (left < BAND_ROWS) ? left : BAND_ROWS;
}

void cg_depthwise3x3_s8_dsp(const cg_dw3x3_params *params, void *workspace, const int8_t *input,
                            int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t channel_count = window->in.c;
    stripe self = {.params = params};
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y += BAND_ROWS) {
            for (int32_t x = 0; x < window->out.w; x += params->band.columns) {
                start_stripe(&self, &params->band, x, window->out.w);
                self.job.rows = band_rows(window, y);
                int8_t *results = &output[((y * window->out.w) + x) * channel_count];
                for (int32_t c = 0; c < channel_count; c += 4) {
                    widen_band(&self, input, workspace, y, 0, c);
                    compute_band(&self, workspace, results, c);
                }
            }
        }
        input += window->in.h * window->in.w * channel_count;
        output += window->out.h * window->out.w * channel_count;
    }
}

/* The last two lines of a band become the first two of the next one. */
static void keep_lines(const cg_dw3x3_params *params, int32_t *planes)
{
    int32_t *word = planes;
    for (int32_t n = params->band.plane_bytes / BAND_LINES; n > 0; n--) {
        const int32_t first = word[BAND_ROWS];
        const int32_t second = word[BAND_ROWS + 1];
        word[0] = first;
        word[1] = second;
        word += BAND_LINES;
    }
}

void cg_depthwise3x3_in_place_s8_dsp(const cg_dw3x3_params *params, void *workspace, int8_t *image)
{
    const cg_window *const window = &params->window;
    const int32_t row_bytes = window->in.w * window->in.c;
    stripe self = {.params = params};
    start_stripe(&self, &params->band, 0, window->out.w);
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t c = 0; c < window->in.c; c += 4) {
            int32_t from = 0;
            for (int32_t y = 0; y < window->out.h; y += BAND_ROWS) {
                self.job.rows = band_rows(window, y);
                widen_band(&self, image, workspace, y, from, c);
                compute_band(&self, workspace, &image[y * row_bytes], c);
                keep_lines(params, workspace);
                from = 2;
            }
        }
        image += window->in.h * row_bytes;
    }
}

void cg_depthwise3x3_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const int8_t *rows[3];
    for (int32_t line = 0; line < 3; line++) {
        const int32_t at = (y * window->stride_h) - window->pad_top + line;
        rows[line] = NULL;
        if ((at >= 0) && (at < window->in.h)) {
            rows[line] = &input->base[(at % input->ring_rows) * input->row_bytes];
        }
    }
    int32_t *const planes = workspace;
    stripe self = {.params = params};
    for (int32_t x = x_start; x < x_stop; x += params->line.columns) {
        start_stripe(&self, &params->line, x, x_stop);
        self.first -= input->x_origin;
        for (int32_t c = 0; c < window->in.c; c += 4) {
            const int32_t start = group_start(params, c);
            for (int32_t line = 0; line < 3; line++) {
                widen3(&self, (rows[line] == NULL) ? NULL : &rows[line][start], &planes[line]);
            }
            self.job.count = group_count(params, c);
            const int32_t *const plane = plane_of(&self, planes, c);
            if (window->stride_w == 1) {
                cg_dw3x3_s8_dsp_line1(&self.job, plane, channel_words(params, c), &output[c]);
            } else {
                cg_dw3x3_s8_dsp_line2(&self.job, plane, channel_words(params, c), &output[c]);
            }
        }
        output += params->line.columns * window->out.c;
    }
}

void cg_depthwise3x3_rows_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                 const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = {
            .base = input,
            .row_bytes = window->in.w * window->in.c,
            .ring_rows = window->in.h,
            .x_origin = 0,
            .channels = window->in.c,
        };
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_depthwise3x3_s8_dsp_row(params, workspace, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += window->in.h * window->in.w * window->in.c;
    }
}
