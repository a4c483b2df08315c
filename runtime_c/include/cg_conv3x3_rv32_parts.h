/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv3x3_rv32_parts.h -- 3x3 convolution of stride 1, row by row in tiles of six pixels and of
 * three, RV32IM. A source defines CG_CONV3X3 and CG_CONV3X3_ROW (its functions), CG_TILE6 and
 * CG_TILE3 before it includes this.
 */
#include "cg_kernel_parts.h"
#include "cg_rv32_parts.h"

enum { TILE = 6, HALF = 3, LINES = 3, MARGIN = 2, TILE_COLUMNS = TILE + MARGIN };
enum { PLANE_BYTES = 8, TILE_WORDS = 8, HALF_WORDS = 6 }; /* for each channel */

/* A tile of a row, and where its pixels lie. */
typedef struct {
    int32_t size;
    int32_t missing; /* pixels in front that are none */
    int32_t x;       /* the first pixel, missing ones included */
} row_tile;

/* A row of the image from column `origin` on; NULL: padding. */
typedef struct {
    const int8_t *pixels;
    int32_t origin;
} image_line;

/* The tile that begins at pixel x of [x_start, x_stop). */
static row_tile tile_at(int32_t x, int32_t x_start, int32_t x_stop)
{
    const int32_t left = x_stop - x;
    row_tile tile = {.size = TILE, .missing = 0, .x = x};
    if ((left > HALF) && ((left >= TILE) || ((x - x_start) >= (TILE - left)))) {
        tile.x = (left < TILE) ? (x_stop - TILE) : x;
    } else {
        tile.size = HALF;
        tile.missing = (left < HALF) ? (HALF - left) : 0;
        tile.x -= tile.missing;
    }
    return tile;
}

static void pack_tile(const cg_conv_params_rv32 *params, const image_line *line,
                      const row_tile *tile, int32_t *planes)
{
    const int32_t channels = params->window.in.c;
    const int32_t first = tile->x - params->window.pad_left;
    const int32_t count = tile->size + MARGIN;
    const int8_t *columns[TILE_COLUMNS];
    if ((line->pixels != NULL) && ((first + tile->missing) >= 0) && (tile->missing == 0) &&
        ((first + count) <= params->window.in.w)) {
        const int8_t *from = &line->pixels[(first - line->origin) * channels];
        for (int32_t i = 0; i < TILE_COLUMNS; i++) {
            columns[i] = from;
            from += (i < (count - 1)) ? channels : 0;
        }
    } else {
        for (int32_t i = 0; i < TILE_COLUMNS; i++) {
            const int32_t x = first + i;
            const int32_t is_there = (line->pixels != NULL) && (i >= tile->missing) &&
                                     (i < count) && (x >= 0) && (x < params->window.in.w);
            columns[i] =
                (is_there != 0) ? &line->pixels[(x - line->origin) * channels] : params->pad;
        }
    }
    if (tile->size == TILE) {
        cg_pack6_s8_rv32(columns, channels, planes);
    } else {
        cg_pack3_s8_rv32(columns, channels, planes);
    }
}

/* `output`: where the result of the first pixel that is one goes. */
static void multiply_tile(const cg_conv_params_rv32 *params, const cg_taps_rv32 *taps,
                          const row_tile *tile, int8_t *output)
{
    const int32_t step = params->window.out.c;
    if (tile->size == TILE) {
        CG_TILE6(&params->products, taps, output, step, params->stream);
        return;
    }
    int8_t *outputs[HALF];
    for (int32_t i = 0; i < HALF; i++) {
        outputs[i] = output;
        output += (i >= tile->missing) ? step : 0;
    }
    CG_TILE3(&params->products, taps, outputs, params->stream);
}

/* Words of a packed row of taps. */
static int32_t words_of(const cg_conv_params_rv32 *params, const row_tile *tile)
{
    return ((tile->size == TILE) ? TILE_WORDS : HALF_WORDS) * params->window.in.c;
}

/* The first pixel of a tile that is one. */
static int32_t first_of(const row_tile *tile)
{
    return tile->x + tile->missing;
}

/* The pixel behind a tile. */
static int32_t behind(const row_tile *tile)
{
    return tile->x + tile->size;
}

void CG_CONV3X3_ROW(const cg_conv_params_rv32 *params, void *workspace, const cg_rows *input,
                    int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    int32_t *const end = &((int32_t *)workspace)[LINES * TILE_WORDS * params->window.in.c];
    cg_taps_rv32 taps = {.plane_bytes = PLANE_BYTES * params->window.in.c};
    image_line lines[LINES];
    for (int32_t ky = 0; ky < LINES; ky++) {
        const int32_t row = y - params->window.pad_top + ky;
        const int32_t is_inside = (row >= 0) && (row < params->window.in.h);
        lines[ky].pixels =
            (is_inside != 0) ? &input->base[(row % input->ring_rows) * input->row_bytes] : NULL;
        lines[ky].origin = input->x_origin;
    }
    for (int32_t x = x_start; x < x_stop;) {
        const row_tile tile = tile_at(x, x_start, x_stop);
        const int32_t words = words_of(params, &tile);
        int32_t *to = end - (LINES * words); /* to the end, so that it is used */
        for (int32_t ky = 0; ky < LINES; ky++) {
            pack_tile(params, &lines[ky], &tile, to);
            taps.rows[ky] = to;
            to += words;
        }
        multiply_tile(params, &taps, &tile,
                      &output[(first_of(&tile) - x_start) * params->window.out.c]);
        x = behind(&tile);
    }
}

/* A row of the image, packed tile by tile. */
static void keep_line(const cg_conv_params_rv32 *params, const image_line *line, int32_t *to)
{
    const int32_t width = params->window.out.w;
    for (int32_t x = 0; x < width;) {
        const row_tile tile = tile_at(x, 0, width);
        pack_tile(params, line, &tile, to);
        to += words_of(params, &tile);
        x = behind(&tile);
    }
}

static void run_image(const cg_conv_params_rv32 *params, int32_t *ring, const int8_t *input,
                      int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t width = window->out.w;
    int32_t line_words = 0;
    cg_taps_rv32 taps = {.plane_bytes = PLANE_BYTES * window->in.c};
    int32_t kept = 0; /* rows from the first one of the padding on */
    for (int32_t x = 0; x < width;) {
        const row_tile tile = tile_at(x, 0, width);
        line_words += words_of(params, &tile);
        x = behind(&tile);
    }
    for (int32_t y = 0; y < window->out.h; y++) {
        for (; kept < (y + LINES); kept++) {
            const int32_t row = kept - window->pad_top;
            const int32_t is_inside = (row >= 0) && (row < window->in.h);
            const image_line line = {
                .pixels = (is_inside != 0) ? &input[row * window->in.w * window->in.c] : NULL,
            };
            keep_line(params, &line, &ring[(kept % LINES) * line_words]);
        }
        for (int32_t ky = 0; ky < LINES; ky++) {
            taps.rows[ky] = &ring[((y + ky) % LINES) * line_words];
        }
        for (int32_t x = 0; x < width;) {
            const row_tile tile = tile_at(x, 0, width);
            multiply_tile(params, &taps, &tile, &output[first_of(&tile) * window->out.c]);
            for (int32_t ky = 0; ky < LINES; ky++) {
                taps.rows[ky] += words_of(params, &tile);
            }
            x = behind(&tile);
        }
        output += width * window->out.c;
    }
}

void CG_CONV3X3(const cg_conv_params_rv32 *params, void *workspace, const int8_t *input,
                int8_t *output)
{
    for (int32_t b = 0; b < params->window.batch; b++) {
        run_image(params, (int32_t *)workspace, input, output);
        input += cg_shape_elements(&params->window.in);
        output += cg_shape_elements(&params->window.out);
    }
}
