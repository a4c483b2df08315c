/*
 * max_pool2d_s8.c -- largest element inside a window, int8, portable.
 */
#include "cg_kernel_parts.h"

/* Largest of the taps inside, one channel. */
static int8_t window_max(const cg_window *window, const cg_view *view, const int8_t *row)
{
    int8_t largest = *row;
    for (int32_t ky = view->rows.first; ky < view->rows.stop; ky++) {
        const int8_t *x = row;
        for (int32_t kx = view->cols.first; kx < view->cols.stop; kx++) {
            largest = (*x > largest) ? *x : largest;
            x += window->in.c;
        }
        row += window->in.w * window->in.c;
    }
    return largest;
}

static void pool_pixel(const cg_pool_params *params, const cg_view *view, const int8_t *input,
                       int8_t *output)
{
    const cg_window *const window = &params->window;
    const int8_t *x = &input[cg_view_start(view, window)];
    for (int32_t c = 0; c < window->out.c; c++) {
        const int32_t largest = window_max(window, view, x++);
        output[c] = (int8_t)cg_clamp_s32(largest, params->act_min, params->act_max);
    }
}

void cg_max_pool2d_s8(const cg_pool_params *params, const int8_t *input, int8_t *output)
{
    const cg_window *const window = &params->window;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t y = 0; y < window->out.h; y++) {
            cg_view view;
            cg_view_row(&view, window, y);
            for (int32_t x = 0; x < window->out.w; x++) {
                cg_view_col(&view, window, x);
                pool_pixel(params, &view, input, output);
                output += window->out.c;
            }
        }
        input += cg_shape_elements(&window->in);
    }
}
