/*
 * depthwise_taps_s8_dsp.c -- depthwise convolution, int8, DSP extension, any window: where the taps
 * of a result lie. The inner loops are in depthwise_taps_parts_dsp.S.
 */
#include "cg_depthwise_dsp.h"

#define NINE 9 /* taps of a 3x3 window, which has loops of its own */

/* A row of results: where its windows' rows begin (NULL: padding), and the taps of one window. */
typedef struct {
    const cg_dw_taps_params *params;
    const cg_rows *input;
    int32_t y;
    bool is_inside; /* all rows of the window are in the image */
    cg_dw_taps taps;
} tap_row;

static void find_taps(tap_row *self, int32_t x)
{
    const cg_window *const window = &self->params->window;
    const int8_t **tap = self->taps.tap;
    int32_t at_y = (self->y * window->stride_h) - window->pad_top;
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        int32_t at_x = (x * window->stride_w) - window->pad_left;
        const bool is_row = (at_y >= 0) && (at_y < window->in.h);
        const int8_t *row = self->params->pad;
        if (is_row) {
            row = &self->input->base[(at_y % self->input->ring_rows) * self->input->row_bytes];
        }
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            *tap = self->params->pad;
            if (is_row && (at_x >= 0) && (at_x < window->in.w)) {
                *tap = &row[(at_x - self->input->x_origin) * window->in.c];
            }
            tap++;
            at_x += window->dilation_w;
        }
        at_y += window->dilation_h;
    }
    *tap = self->params->pad; /* counts where the taps are odd and not nine: weight 0 */
}

/* Results from column x on whose windows are inside the image, at least 1: they share their taps.
 */
static int32_t run_length(const tap_row *self, int32_t x, int32_t x_stop)
{
    const cg_window *const window = &self->params->window;
    const int32_t first = (x * window->stride_w) - window->pad_left;
    const int32_t last = first + ((window->kernel_w - 1) * window->dilation_w);
    const int32_t room = window->in.w - 1 - last;
    if (!self->is_inside || (first < 0) || (room < 0)) {
        return 1;
    }
    const int32_t count = (room / window->stride_w) + 1;
    return (count < (x_stop - x)) ? count : (x_stop - x);
}

void cg_depthwise_taps_s8_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                  int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    const cg_window *const window = &params->window;
    const int32_t channels = window->in.c;
    const int32_t first = (y * window->stride_h) - window->pad_top;
    const int32_t last = first + ((window->kernel_h - 1) * window->dilation_h);
    const int32_t groups = (channels + 3) / 4;
    tap_row self; /* an initialiser would clear all of its taps */
    self.params = params;
    self.input = input;
    self.y = y;
    self.is_inside = (first >= 0) && (last < window->in.h);
    const int32_t taps = window->kernel_h * window->kernel_w;
    self.taps.count = (taps == NINE) ? taps : (taps + (taps % 2));
    self.taps.groups = groups;
    self.taps.back = (4 * groups) - channels;
    self.taps.step = (window->stride_w - 1) * channels;
    self.taps.out_zero = params->out_zero;
    for (int32_t x = x_start; x < x_stop; x += self.taps.pixels) {
        find_taps(&self, x);
        self.taps.pixels = run_length(&self, x, x_stop);
        if ((channels % 4) == 0) {
            if (taps == NINE) {
                cg_dw_taps9_words_dsp(&self.taps, params->weights, output);
            } else {
                cg_dw_taps_words_dsp(&self.taps, params->weights, output);
            }
        } else if (taps == NINE) {
            cg_dw_taps9_bytes_dsp(&self.taps, params->weights, output);
        } else {
            cg_dw_taps_bytes_dsp(&self.taps, params->weights, output);
        }
        output += self.taps.pixels * channels;
    }
}

void cg_depthwise_taps_s8_dsp(const cg_dw_taps_params *params, const int8_t *input, int8_t *output)
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
            cg_depthwise_taps_s8_dsp_row(params, &rows, output, y, 0, window->out.w);
            output += window->out.w * window->out.c;
        }
        input += window->in.h * window->in.w * window->in.c;
    }
}
