/*
 * conv2d_s8_mve.c -- 2-D convolution, Helium: any window, stride, dilation, padding; no groups.
 *
 * The windows of three pixels are copied to the workspace, with the zero point where they lie in
 * the padding, then multiplied at once.
 */
#include "cg_mve_parts.h"

/* A group of pixels that is being filled: the last `count` patches, not yet multiplied. */
typedef struct {
    const cg_conv_params_mve *params;
    const cg_product_mve *product;
    int8_t *workspace;
    cg_group_mve pixels;
    int32_t count;
} patch_group;

static void multiply(patch_group *group)
{
    for (int32_t i = group->count; i < 3; i++) {
        group->pixels.patch[i] = group->pixels.patch[i - 1];
        group->pixels.output[i] = group->pixels.output[i - 1];
    }
    cg_product3_s8_mve(group->product, &group->pixels);
    group->count = 0;
}

/* Rows of taps [first, stop) that are inside, each one run of bytes: `from` is the first of them.
 */
static int8_t *copy_rows(int8_t *to, const int8_t *from, const cg_tap_rows *rows, cg_taps taps,
                         int32_t run_bytes)
{
    const int32_t wrap = (rows->wrap < taps.stop) ? rows->wrap : taps.stop;
    if (wrap > taps.first) {
        to = cg_copy_runs_mve(to, from, run_bytes, rows->step, wrap - taps.first);
        from += (wrap - taps.first) * rows->step;
    }
    if (wrap < taps.stop) {
        from -= rows->ring_bytes;
        to = cg_copy_runs_mve(to, from, run_bytes, rows->step, taps.stop - wrap);
    }
    return to;
}

/* The taps of one row of taps that are inside. */
static int8_t *copy_taps(int8_t *to, const int8_t *from, const cg_window *window, int32_t taps)
{
    const int32_t channels = window->in.c;
    for (; taps > 0; taps--) {
        to = cg_copy_mve(to, from, channels);
        from += window->dilation_w * channels;
    }
    return to;
}

/* Windows that cross the left or right edge of the image, or have holes. */
static int8_t *copy_edge(const cg_conv_params_mve *params, const cg_view *view,
                         const cg_tap_rows *rows, int8_t *to)
{
    const cg_window *const window = &params->window;
    const int32_t inside = view->cols.stop - view->cols.first;
    const int32_t left = view->cols.first * window->in.c;
    const int32_t right = (window->kernel_w - view->cols.stop) * window->in.c;
    if (inside == 0) {
        const int32_t taps = (view->rows.stop - view->rows.first) * window->kernel_w;
        return cg_fill_mve(to, params->in_zero, taps * window->in.c);
    }
    const int8_t *from = cg_first_tap(rows, window, view);
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        from -= (ky == rows->wrap) ? rows->ring_bytes : 0;
        to = cg_fill_mve(to, params->in_zero, left);
        to = copy_taps(to, from, window, inside);
        to = cg_fill_mve(to, params->in_zero, right);
        from += rows->step;
    }
    return to;
}

/* The window of result column x. */
static void copy_window(const cg_conv_params_mve *params, cg_view *view, const cg_tap_rows *rows,
                        int32_t x, int8_t *to)
{
    const cg_window *const window = &params->window;
    const int32_t row_bytes = window->kernel_w * window->in.c;
    const int32_t origin = (x * window->stride_w) - window->pad_left;
    if (view->rows.first > 0) {
        to = cg_fill_mve(to, params->in_zero, view->rows.first * row_bytes);
    }
    if ((origin >= 0) && ((origin + window->kernel_w) <= window->in.w) &&
        (window->dilation_w == 1)) {
        const int8_t *const from = &rows->first[(origin - rows->x_origin) * rows->channels];
        to = copy_rows(to, from, rows, view->rows, row_bytes);
    } else {
        cg_view_col(view, window, x);
        to = copy_edge(params, view, rows, to);
    }
    if (view->rows.stop < window->kernel_h) {
        cg_fill_mve(to, params->in_zero, (window->kernel_h - view->rows.stop) * row_bytes);
    }
}

/* Adds a pixel to the group, multiplies a full one. */
static void add_pixel(patch_group *group, cg_view *view, const cg_tap_rows *rows, int32_t x,
                      int8_t *output)
{
    int8_t *const patch = &group->workspace[group->count * group->product->depth];
    copy_window(group->params, view, rows, x, patch);
    group->pixels.patch[group->count] = patch;
    group->pixels.output[group->count] = output;
    group->count++;
    if (group->count == 3) {
        multiply(group);
    }
}

void cg_conv2d_s8_mve_row(const cg_conv_params_mve *params, const cg_product_mve *product,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop)
{
    patch_group group = {.params = params, .product = product, .workspace = workspace};
    cg_view view;
    cg_view_row(&view, &params->window, y);
    const cg_tap_rows rows = cg_find_tap_rows(input, &params->window, &view);
    for (int32_t x = x_start; x < x_stop; x++) {
        add_pixel(&group, &view, &rows, x, output);
        output += product->channels;
    }
    if (group.count > 0) {
        multiply(&group);
    }
}

void cg_conv2d_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                      void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    patch_group group = {.params = params, .product = product, .workspace = workspace};
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows all = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            for (int32_t x = 0; x < window->out.w; x++) {
                add_pixel(&group, &view, &rows, x, output);
                output += product->channels;
            }
        }
        input += cg_shape_elements(&window->in);
    }
    if (group.count > 0) {
        multiply(&group);
    }
}

void cg_conv2d_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                              void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    patch_group group = {.params = params, .product = product, .workspace = workspace};
    output += window->batch * cg_shape_elements(&window->out);
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows all = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            for (int32_t x = window->out.w - 1; x >= 0; x--) {
                output -= product->channels;
                add_pixel(&group, &view, &rows, x, output);
            }
        }
    }
    if (group.count > 0) {
        multiply(&group);
    }
}
