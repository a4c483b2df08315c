/*
 * conv2d_s8_mve.c -- 2-D convolution, Helium: any window, stride, dilation, padding; no groups.
 *
 * The windows of three pixels are copied to the workspace, with the zero point where they lie in
 * the padding, then multiplied at once.
 */
#include "cg_mve_parts.h"

/* What is being computed: pixels come in one by one, the last `count` are not yet multiplied. */
typedef struct {
    const cg_conv_params_mve *params;
    const cg_product_mve *product;
    int8_t *workspace;
    cg_group_mve group;
    int32_t count;
    int32_t inside_start; /* result columns [start, stop) have all columns of taps inside */
    int32_t inside_stop;
} patch_queue;

static int32_t most(int32_t pixels)
{
    return (pixels < 3) ? pixels : 3;
}

/*
 * Of a workspace for `held` pixels or 3 the last ones are taken, if so few are computed: its last
 * byte is used whatever the plan makes of the row.
 */
static patch_queue begin(const cg_conv_params_mve *params, const cg_product_mve *product,
                         void *workspace, int32_t held, int32_t pixels)
{
    const cg_window *const window = &params->window;
    int8_t *const bytes = workspace;
    patch_queue patches = {.params = params, .product = product, .group = {.count = 1}};
    patches.workspace = &bytes[(most(held) - most(pixels)) * product->depth];
    if (window->dilation_w == 1) {
        cg_inside_mve(window, &patches.inside_start, &patches.inside_stop);
    }
    for (int32_t i = 0; i < 3; i++) {
        patches.group.patch[i] = &patches.workspace[i * product->depth];
    }
    return patches;
}

/* The pixels that are left at the end: what lacks is done twice, to the same place. */
static void finish(patch_queue *patches)
{
    if (patches->count > 0) {
        for (int32_t i = patches->count; i < 3; i++) {
            patches->group.patch[i] = patches->group.patch[i - 1];
            patches->group.output[i] = patches->group.output[i - 1];
        }
        cg_product3_s8_mve(patches->product, &patches->group);
    }
}

/* Rows of taps that are inside, `count` of them: all their taps that are inside. */
static void copy_rows(const cg_window *window, const cg_runs_mve *runs, int32_t count,
                      const int8_t *from, int8_t *to)
{
    if (window->dilation_w == 1) {
        cg_runs_mve some = *runs;
        some.count = count;
        cg_copy_runs_mve(to, from, &some, 1);
        return;
    }
    const cg_runs_mve taps = {
        .bytes = window->in.c,
        .step = window->dilation_w * window->in.c,
        .to_step = window->in.c,
        .count = runs->bytes / window->in.c,
    };
    for (; count > 0; count--) {
        cg_copy_runs_mve(to, from, &taps, 1);
        from += runs->step;
        to += runs->to_step;
    }
}

/* Any window: that of result column x. */
static void copy_window(const patch_queue *patches, cg_view *view, const cg_tap_rows *rows,
                        int32_t x, int8_t *to)
{
    const cg_window *const window = &patches->params->window;
    cg_view_col(view, window, x);
    const cg_runs_mve runs = {
        .bytes = (view->cols.stop - view->cols.first) * window->in.c,
        .step = rows->step,
        .to_step = window->kernel_w * window->in.c,
    };
    int32_t count = view->rows.stop - view->rows.first;
    if ((runs.bytes < runs.to_step) || (count < window->kernel_h)) {
        cg_fill_mve(to, patches->params->in_zero, patches->product->depth);
    }
    if ((runs.bytes == 0) || (count == 0)) {
        return;
    }
    const int8_t *from = cg_first_tap(rows, window, view);
    to += (view->rows.first * runs.to_step) + (view->cols.first * window->in.c);
    if (rows->wrap < view->rows.stop) {
        const int32_t before = rows->wrap - view->rows.first;
        if (before > 0) {
            copy_rows(window, &runs, before, from, to);
        }
        from += (before * runs.step) - rows->ring_bytes;
        to += before * runs.to_step;
        count -= before;
    }
    copy_rows(window, &runs, count, from, to);
}

/* Windows of pixels one after the other, that have all rows and columns of taps inside. */
typedef struct {
    cg_runs_mve runs;
    const int8_t *origin; /* where the window of column 0 would begin */
    int32_t column_bytes; /* from window to window */
    int32_t depth;        /* of a window */
    int32_t wrap;         /* the row of taps that is ring_bytes back; 0: they are in order */
    int32_t ring_bytes;
    int32_t start; /* columns [start, stop) have such windows */
    int32_t stop;
} plain_windows;

static plain_windows find_plain(const patch_queue *patches, const cg_view *view,
                                const cg_tap_rows *rows, int32_t step)
{
    const cg_window *const window = &patches->params->window;
    const int32_t column_bytes = window->stride_w * window->in.c;
    const bool is_whole = (view->rows.stop - view->rows.first) == window->kernel_h;
    const plain_windows plain = {
        .runs =
            {
                .bytes = window->kernel_w * window->in.c,
                .step = rows->step,
                .to_step = window->kernel_w * window->in.c,
                .count = window->kernel_h,
                .window_step = step * column_bytes,
            },
        .origin = rows->first,
        .column_bytes = column_bytes,
        .depth = patches->product->depth,
        .wrap = (rows->wrap < window->kernel_h) ? rows->wrap : 0,
        .ring_bytes = rows->ring_bytes,
        .start = is_whole ? patches->inside_start : 0,
        .stop = is_whole ? patches->inside_stop : 0,
    };
    return plain;
}

/* `count` of them; where the ring begins again within, row of taps by row of taps. */
static void copy_plain(const plain_windows *plain, const int8_t *from, int32_t count, int8_t *to)
{
    if (plain->wrap == 0) {
        cg_copy_runs_mve(to, from, &plain->runs, count);
        return;
    }
    const cg_runs_mve across = {
        .bytes = plain->runs.bytes,
        .step = plain->runs.window_step,
        .to_step = plain->depth,
        .count = count,
    };
    for (int32_t tap = 0; tap < plain->runs.count; tap++) {
        from -= (tap == plain->wrap) ? plain->ring_bytes : 0;
        cg_copy_runs_mve(to, from, &across, 1);
        from += plain->runs.step;
        to += plain->runs.to_step;
    }
}

/* `threes` times three of them, results `pixel` bytes apart. */
static void multiply_threes(patch_queue *patches, const plain_windows *plain, const int8_t *from,
                            int32_t threes, int32_t pixel, int8_t *output)
{
    for (; threes > 0; threes--) {
        copy_plain(plain, from, 3, patches->workspace);
        from += 3 * plain->runs.window_step;
        for (int32_t i = 0; i < 3; i++) {
            patches->group.output[i] = output;
            output += pixel;
        }
        cg_product3_s8_mve(patches->product, &patches->group);
    }
}

/* Columns [x, x + left) or, with a step of -1, (x - left, x]; `output` is column x's. */
static void add_columns(patch_queue *patches, cg_view *view, const cg_tap_rows *rows, int32_t x,
                        int32_t left, int32_t step, int8_t *output)
{
    const cg_window *const window = &patches->params->window;
    const cg_product_mve *const product = patches->product;
    const int32_t pixel = step * product->channels;
    const int32_t shift = (window->pad_left + rows->x_origin) * window->in.c;
    const plain_windows plain = find_plain(patches, view, rows, step);
    while (left > 0) {
        const bool is_plain = (x >= plain.start) && (x < plain.stop);
        const int8_t *const from =
            is_plain ? &plain.origin[(x * plain.column_bytes) - shift] : plain.origin;
        if (is_plain && (patches->count == 0)) {
            const int32_t plain_left = (step > 0) ? (plain.stop - x) : ((x + 1) - plain.start);
            const int32_t threes = ((plain_left < left) ? plain_left : left) / 3;
            if (threes > 0) {
                multiply_threes(patches, &plain, from, threes, pixel, output);
                x += threes * 3 * step;
                left -= threes * 3;
                output += threes * 3 * pixel;
                continue;
            }
        }
        int8_t *const patch = &patches->workspace[patches->count * product->depth];
        if (is_plain) {
            copy_plain(&plain, from, 1, patch);
        } else {
            copy_window(patches, view, rows, x, patch);
        }
        x += step;
        left--;
        patches->group.output[patches->count] = output;
        output += pixel;
        patches->count++;
        if (patches->count == 3) {
            cg_product3_s8_mve(product, &patches->group);
            patches->count = 0;
        }
    }
}

void cg_conv2d_s8_mve_row(const cg_conv_params_mve *params, const cg_product_mve *product,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop)
{
    patch_queue patches = begin(params, product, workspace, params->window.out.w, x_stop - x_start);
    cg_view view;
    cg_view_row(&view, &params->window, y);
    const cg_tap_rows rows = cg_find_tap_rows(input, &params->window, &view);
    add_columns(&patches, &view, &rows, x_start, x_stop - x_start, 1, output);
    finish(&patches);
}

void cg_conv2d_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                      void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t pixels = cg_pixels_mve(window);
    patch_queue patches = begin(params, product, workspace, pixels, pixels);
    for (int32_t b = 0; b < window->batch; b++) {
        const cg_rows all = cg_all_rows(&window->in, input);
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            add_columns(&patches, &view, &rows, 0, window->out.w, 1, output);
            output += window->out.w * window->out.c;
        }
        input += cg_shape_elements(&window->in);
    }
    finish(&patches);
}

void cg_conv2d_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                              void *workspace, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    const int32_t pixels = cg_pixels_mve(window);
    patch_queue patches = begin(params, product, workspace, pixels, pixels);
    output += (window->batch * cg_shape_elements(&window->out)) - window->out.c;
    for (int32_t b = window->batch - 1; b >= 0; b--) {
        const cg_rows all = cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);
        for (int32_t y = window->out.h - 1; y >= 0; y--) {
            cg_view view;
            cg_view_row(&view, window, y);
            const cg_tap_rows rows = cg_find_tap_rows(&all, window, &view);
            add_columns(&patches, &view, &rows, window->out.w - 1, window->out.w, -1, output);
            output -= window->out.w * window->out.c;
        }
    }
    finish(&patches);
}
