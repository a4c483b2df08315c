/* SPDX-License-Identifier: Apache-2.0 */
/*
 * winograd_s8_rv32.c -- 3x3 convolution by Winograd's F(2x2, 3x3), int8, RV32IM: four tiles side by
 * side, which winograd_parts_s8_rv32.S computes. Four rows of the image are kept in the workspace
 * with their padding.
 */
#include "cg_needs_rv32.h"

#include "cg_kernel_parts.h"
#include "cg_rv32_parts.h"

enum { LINES = 4, POSITIONS = 16, TILES = 4, COLUMNS = 8, MARGIN = 2, WORD = 4 };

typedef struct {
    const cg_winograd_params_rv32 *params;
    int32_t *sums;
    cg_s16 *pixels;
    int8_t *ring;
    int32_t line_bytes;
    int32_t depth; /* channels of the image up to a multiple of four */
    const int8_t *lines[LINES];
} winograd_layer;

static int8_t *fill(int8_t *to, int32_t value, int32_t count)
{
    for (; count > 0; count--) {
        *to++ = (int8_t)value;
    }
    return to;
}

static int8_t *copy(int8_t *to, const int8_t *from, int32_t count)
{
    if ((((uintptr_t)to | (uintptr_t)from) % WORD) == 0u) {
        for (; count >= (2 * WORD); count -= 2 * WORD) {
            const uint32_t a = ((const cg_u32 *)(const void *)from)[0];
            const uint32_t b = ((const cg_u32 *)(const void *)from)[1];
            ((cg_u32 *)(void *)to)[0] = a;
            ((cg_u32 *)(void *)to)[1] = b;
            to += 2 * WORD;
            from += 2 * WORD;
        }
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
    return to;
}

/* A row of the image with its padding; NULL: all of it is padding. */
static void keep_line(const winograd_layer *layer, int8_t *to, const int8_t *line)
{
    const cg_winograd_params_rv32 *const params = layer->params;
    const int32_t left = params->window.pad_left * params->window.in.c;
    const int32_t count = params->window.in.w * params->window.in.c;
    const int32_t most = layer->line_bytes - left;
    if (line == NULL) {
        (void)fill(to, params->in_zero, layer->line_bytes);
        return;
    }
    const int32_t inside = (count < most) ? count : most;
    to = fill(to, params->in_zero, left);
    to = copy(to, line, inside);
    (void)fill(to, params->in_zero, most - inside);
}

static void run_band(const winograd_layer *layer, int8_t *output, int32_t rows)
{
    const cg_winograd_params_rv32 *const params = layer->params;
    const int32_t width = params->window.out.w;
    const int32_t outputs = params->window.out.c;
    cg_winograd_results_rv32 results = {
        .sums = layer->sums,
        .step = outputs,
        .line = width * outputs,
        .rows = rows,
        .range = params->range,
    };
    for (int32_t x = 0; x < width; x += COLUMNS) {
        const int8_t *lines[LINES];
        const int16_t *filters = params->filters;
        for (int32_t a = 0; a < LINES; a++) {
            lines[a] = &layer->lines[a][x * params->window.in.c];
        }
        cg_winograd_pixels_s8_rv32(lines, layer->pixels, params->window.in.c);
        results.channels = params->channels;
        results.output = &output[x * outputs];
        results.columns = ((width - x) < COLUMNS) ? (width - x) : COLUMNS;
        for (int32_t n = 0; n < outputs; n += 4) {
            cg_winograd_products_s8_rv32(layer->pixels, filters, layer->sums, layer->depth);
            cg_winograd_results_s8_rv32(&results);
            filters += POSITIONS * 4 * layer->depth;
            results.channels += 4 * CG_CHANNEL_WORDS_RV32;
            results.output += 4;
        }
    }
}

static void run_image(winograd_layer *layer, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &layer->params->window;
    int32_t kept = 0; /* rows from the first one of the padding on */
    for (int32_t y = 0; y < window->out.h; y += 2) {
        for (; kept < (y + LINES); kept++) {
            const int32_t row = kept - window->pad_top;
            const int32_t is_inside =
                (row >= 0) && (row < window->in.h) && (kept < (window->out.h + MARGIN));
            int8_t *const to = &layer->ring[(kept % LINES) * layer->line_bytes];
            keep_line(layer, to,
                      (is_inside != 0) ? &input[row * window->in.w * window->in.c] : NULL);
        }
        for (int32_t a = 0; a < LINES; a++) {
            layer->lines[a] = &layer->ring[((y + a) % LINES) * layer->line_bytes];
        }
        run_band(layer, &output[y * window->out.w * window->out.c],
                 ((window->out.h - y) < 2) ? 1 : 2);
    }
}

void cg_winograd_s8_rv32(const cg_winograd_params_rv32 *params, void *workspace,
                         const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t blocks = (window->out.w + COLUMNS - 1) / COLUMNS;
    winograd_layer layer;
    layer.params = params;
    layer.depth = (window->in.c + 3) & ~3;
    layer.sums = (int32_t *)workspace;
    layer.pixels = (cg_s16 *)(void *)&layer.sums[POSITIONS * 4 * TILES];
    layer.ring = (int8_t *)&layer.pixels[POSITIONS * TILES * layer.depth];
    layer.line_bytes = ((COLUMNS * blocks) + MARGIN) * window->in.c;
    for (int32_t b = 0; b < window->batch; b++) {
        run_image(&layer, input, output);
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}
