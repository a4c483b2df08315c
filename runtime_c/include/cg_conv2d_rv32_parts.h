/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv2d_rv32_parts.h -- a 2-D convolution in tiles of six pixels and of three, RV32IM: any
 * window, stride, dilation, padding. A source defines CG_CONV2D and CG_CONV2D_ROW (its functions),
 * CG_TILE6 and CG_TILE3 before it includes this.
 *
 * Windows of a tile are packed into the workspace: a row of taps at once where all six lie inside
 * the image, else tap by tap, from the pixel `pad` where there is none. Tiles run on from row to
 * row.
 */
#include "cg_conv_rows.h"
#include "cg_rv32_parts.h"

enum { TILE = 6, HALF = 3 };

/* The pixels of a tile; of fewer than three the first one again and again in front. */
typedef struct {
    const cg_conv_params_rv32 *params;
    cg_rows input;
    int32_t *workspace;
    int32_t y_start; /* results [y_start, y_stop), [x_start, x_stop) have no tap in the padding */
    int32_t y_stop;
    int32_t x_start;
    int32_t x_stop;
    int32_t y; /* the next pixel */
    int32_t x;
    int32_t ys[TILE]; /* first taps, in the image */
    int32_t xs[TILE];
    const int8_t *from[TILE];
    int8_t *outputs[HALF];
    int8_t *output; /* of the first pixel */
} conv_layer;

/* Place of the values of a tile: those of three pixels to the end, so that it is used. */
static int32_t *values_of(const conv_layer *layer, int32_t size)
{
    return &layer->workspace[(size == TILE) ? 0 : (2 * layer->params->products.values)];
}

static void gather(const conv_layer *layer, int32_t size, int32_t *to, int32_t count)
{
    if (size == TILE) {
        cg_gather6_s8_rv32(layer->from, to, count);
    } else {
        cg_gather3_s8_rv32(layer->from, to, count);
    }
}

static void multiply(const conv_layer *layer, int32_t size)
{
    const cg_products_rv32 *const products = &layer->params->products;
    if (size == TILE) {
        CG_TILE6(products, layer->workspace, layer->output, layer->params->window.out.c,
                 layer->params->stream);
    } else {
        CG_TILE3(products, values_of(layer, size), layer->outputs, layer->params->stream);
    }
}

/* The size of the next tile where so many pixels are left. */
static int32_t tile_size(int32_t left)
{
    return (left >= TILE) ? TILE : HALF;
}

/* Sets where results of three pixels go, the first `missing` of which are there once more. */
static void place_half(conv_layer *layer, int32_t missing)
{
    int8_t *output = layer->output;
    for (int32_t i = 0; i < HALF; i++) {
        layer->outputs[i] = output;
        output += (i >= missing) ? layer->params->window.out.c : 0;
    }
}

/* ---- windows and strides of 1: all pixels, of all images, are one row ----------------------- */

static void run_pointwise(conv_layer *layer, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &layer->params->window;
    const int32_t from_step = window->in.c;
    const int32_t to_step = window->out.c;
    int32_t left = window->batch * window->out.h * window->out.w;
    while (left > 0) {
        const int32_t size = tile_size(left);
        const int32_t missing = (left < size) ? (size - left) : 0;
        layer->output = output;
        for (int32_t i = 0; i < size; i++) {
            layer->from[i] = input;
            input += (i >= missing) ? from_step : 0;
        }
        if (size == HALF) {
            place_half(layer, missing);
        }
        output += (size - missing) * to_step;
        left -= size;
        gather(layer, size, values_of(layer, size), from_step);
        multiply(layer, size);
    }
}

/* ---- windows ------------------------------------------------------------------------------ */

/* Results [*start, *stop) of an axis have no tap in the padding. */
static void find_inside(int32_t *start, int32_t *stop, int32_t stride, int32_t pad, int32_t reach,
                        int32_t extent)
{
    const int32_t last = extent - 1 - reach + pad;
    *start = (pad + stride - 1) / stride;
    *stop = (last < 0) ? 0 : ((last / stride) + 1);
}

static void start(conv_layer *layer, const cg_conv_params_rv32 *params, void *workspace,
                  const cg_rows *input)
{
    const cg_window *const window = &params->window;
    layer->params = params;
    layer->input = *input;
    layer->workspace = (int32_t *)workspace;
    find_inside(&layer->y_start, &layer->y_stop, window->stride_h, window->pad_top,
                (window->kernel_h - 1) * window->dilation_h, window->in.h);
    find_inside(&layer->x_start, &layer->x_stop, window->stride_w, window->pad_left,
                (window->kernel_w - 1) * window->dilation_w, window->in.w);
}

/* The next pixels of a tile; false where one is padded. */
static int32_t take_pixels(conv_layer *layer, int32_t size, int32_t missing)
{
    const cg_window *const window = &layer->params->window;
    int32_t is_inside = 1;
    for (int32_t i = 0; i < size; i++) {
        layer->ys[i] = (layer->y * window->stride_h) - window->pad_top;
        layer->xs[i] = (layer->x * window->stride_w) - window->pad_left;
        if ((layer->y < layer->y_start) || (layer->y >= layer->y_stop) ||
            (layer->x < layer->x_start) || (layer->x >= layer->x_stop)) {
            is_inside = 0;
        }
        if (i >= missing) {
            layer->x++;
            if (layer->x == window->out.w) {
                layer->x = 0;
                layer->y++;
            }
        }
    }
    return is_inside;
}

/* The line of a ring that row y of the image lies in. */
static int32_t line_of(const cg_rows *input, int32_t y)
{
    return (y < input->ring_rows) ? y : (y % input->ring_rows);
}

static const int8_t *place_of(const cg_rows *input, int32_t line, int32_t x)
{
    return &input->base[(line * input->row_bytes) + ((x - input->x_origin) * input->pixel_bytes)];
}

static void move(conv_layer *layer, int32_t size, int32_t bytes)
{
    for (int32_t i = 0; i < size; i++) {
        layer->from[i] += bytes;
    }
}

/* Windows inside the image, row of taps by row. In a ring all of them are of one row. */
static void pack_inside(conv_layer *layer, int32_t size)
{
    const cg_window *const window = &layer->params->window;
    const cg_rows *const input = &layer->input;
    const int32_t is_run = (window->dilation_w == 1) ? 1 : 0;
    const int32_t run = (is_run != 0) ? (window->kernel_w * window->in.c) : window->in.c;
    const int32_t words = (run * 2 * size) / HALF;
    const int32_t step = window->dilation_h * input->row_bytes;
    const int32_t tap = window->dilation_w * window->in.c;
    int32_t line = line_of(input, layer->ys[0]);
    int32_t *to = values_of(layer, size);
    for (int32_t i = 0; i < size; i++) {
        layer->from[i] = place_of(input, line_of(input, layer->ys[i]), layer->xs[i]);
    }
    for (int32_t ky = window->kernel_h; ky > 0; ky--) {
        gather(layer, size, to, run);
        to += words;
        if (is_run == 0) {
            for (int32_t kx = window->kernel_w; kx > 1; kx--) {
                move(layer, size, tap);
                gather(layer, size, to, run);
                to += words;
            }
            move(layer, size, -(window->kernel_w - 1) * tap);
        }
        line += window->dilation_h;
        move(layer, size, step);
        while ((line >= input->ring_rows) && (ky > 1)) {
            line -= input->ring_rows;
            move(layer, size, -input->ring_rows * input->row_bytes);
        }
    }
}

/* Windows wherever they are, tap by tap. */
static void pack_edge(conv_layer *layer, int32_t size)
{
    const cg_window *const window = &layer->params->window;
    const cg_rows *const input = &layer->input;
    int32_t *to = values_of(layer, size);
    for (int32_t ky = 0; ky < window->kernel_h; ky++) {
        for (int32_t kx = 0; kx < window->kernel_w; kx++) {
            for (int32_t i = 0; i < size; i++) {
                const int32_t y = layer->ys[i] + (ky * window->dilation_h);
                const int32_t x = layer->xs[i] + (kx * window->dilation_w);
                const int32_t is_inside = ((uint32_t)y < (uint32_t)window->in.h) &&
                                          ((uint32_t)x < (uint32_t)window->in.w);
                layer->from[i] =
                    (is_inside != 0) ? place_of(input, line_of(input, y), x) : layer->params->pad;
            }
            gather(layer, size, to, window->in.c);
            to += (window->in.c * 2 * size) / HALF;
        }
    }
}

/* `left` pixels from the next one on. */
static void run_pixels(conv_layer *layer, int8_t *output, int32_t left)
{
    const int32_t step = layer->params->window.out.c;
    while (left > 0) {
        const int32_t size = tile_size(left);
        const int32_t missing = (left < size) ? (size - left) : 0;
        layer->output = output;
        if (size == HALF) {
            place_half(layer, missing);
        }
        if (take_pixels(layer, size, missing) != 0) {
            pack_inside(layer, size);
        } else {
            pack_edge(layer, size);
        }
        multiply(layer, size);
        left -= size - missing;
        output += (size - missing) * step;
    }
}

void CG_CONV2D_ROW(const cg_conv_params_rv32 *params, void *workspace, const cg_rows *input,
                   int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    conv_layer layer;
    start(&layer, params, workspace, input);
    layer.y = y;
    layer.x = x_start;
    run_pixels(&layer, output, x_stop - x_start);
}

void CG_CONV2D(const cg_conv_params_rv32 *params, void *workspace, const int8_t *input,
               int8_t *output)
{
    const cg_window *const window = &params->window;
    conv_layer layer;
    if (cg_is_pointwise(window)) {
        layer.params = params;
        layer.workspace = (int32_t *)workspace;
        run_pointwise(&layer, input, output);
        return;
    }
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows rows = cg_all_rows(&window->in, input);
        start(&layer, params, workspace, &rows);
        layer.y = 0;
        layer.x = 0;
        run_pixels(&layer, output, window->out.h * window->out.w);
        input += cg_shape_elements(&window->in);
        output += cg_shape_elements(&window->out);
    }
}
