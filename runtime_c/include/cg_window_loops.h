/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_window_loops.h -- the loops around a pixel that portable kernels with windows share. A kernel
 * computes all channels of one result; these macros define the functions that go along a row, and
 * over all rows of all images, forward or from the last pixel to the first. Included by kernels
 * only.
 *
 * Macros, because element and parameter types differ, and a call by pointer a pixel costs too much.
 * `declared` is CG_LIST of a layer's parameters as they are declared, `passed` as they are passed
 * on: `params`, in whose `window` the loops run, and weights where there are some.
 */
#ifndef CG_WINDOW_LOOPS_H
#define CG_WINDOW_LOOPS_H

#include "cg_kernel_parts.h"

/* Several arguments as one argument of a macro. */
#define CG_LIST(...) __VA_ARGS__

/* ---- images whose rows may lie in a ring ---------------------------------------------- */

/*
 * `row` is result row y, columns [x_start, x_stop), by `pixel(passed, const cg_view *, const
 * cg_tap_rows *, element *output)`; `name` all rows of all images. `all_rows` is cg_all_rows or
 * cg_all_rows_f32. Both call the static function `compute_row`: folders share `name` and `row` as
 * weak symbols, and a compiler specialises no function that the linker may replace.
 */
#define CG_DEFINE_ROWS(name, row, pixel, element, all_rows, declared, passed)                      \
    __attribute__((noinline)) static void compute_row(declared, const cg_rows *input,              \
                                                      element *output, int32_t y, int32_t x_start, \
                                                      int32_t x_stop)                              \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        cg_view view;                                                                              \
        cg_view_row(&view, window, y);                                                             \
        const cg_tap_rows rows = cg_find_tap_rows(input, window, &view);                           \
        for (int32_t x = x_start; x < x_stop; x++) {                                               \
            cg_view_col(&view, window, x);                                                         \
            pixel(passed, &view, &rows, output);                                                   \
            output += window->out.c;                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void row(declared, const cg_rows *input, element *output, int32_t y, int32_t x_start,          \
             int32_t x_stop)                                                                       \
    {                                                                                              \
        compute_row(passed, input, output, y, x_start, x_stop);                                    \
    }                                                                                              \
                                                                                                   \
    void name(declared, const element *input, element *output)                                     \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        for (int32_t b = 0; b < window->batch; b++) {                                              \
            const cg_rows rows = all_rows(&window->in, input);                                     \
            for (int32_t y = 0; y < window->out.h; y++) {                                          \
                compute_row(passed, &rows, output, y, 0, window->out.w);                           \
                output += window->out.w * window->out.c;                                           \
            }                                                                                      \
            input += cg_shape_elements(&window->in);                                               \
        }                                                                                          \
    }

/* Defines a loop over rows of int8, from the last pixel to the first. */
#define CG_DEFINE_REVERSE_ROWS(name, row, declared, passed)                                        \
    void name(declared, const int8_t *input, int8_t *output)                                       \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        for (int32_t b = window->batch - 1; b >= 0; b--) {                                         \
            const cg_rows rows =                                                                   \
                cg_all_rows(&window->in, &input[b * cg_shape_elements(&window->in)]);              \
            int8_t *at = &output[(b + 1) * cg_shape_elements(&window->out)];                       \
            for (int32_t y = window->out.h - 1; y >= 0; y--) {                                     \
                for (int32_t x = window->out.w - 1; x >= 0; x--) {                                 \
                    at -= window->out.c;                                                           \
                    row(passed, &rows, at, y, x, x + 1);                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* ---- whole images of int16 ------------------------------------------------------------ */

/*
 * `part` is result row y, columns [x_start, x_stop), by `pixel(passed, const cg_view *, const
 * cg_s16 *image, cg_s16 *output)`; `name` all rows of all images.
 */
#define CG_DEFINE_PARTS(name, part, pixel, declared, passed)                                       \
    void part(declared, const cg_s16 *input, cg_s16 *output, int32_t y, int32_t x_start,           \
              int32_t x_stop)                                                                      \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        cg_view view;                                                                              \
        cg_view_row(&view, window, y);                                                             \
        for (int32_t x = x_start; x < x_stop; x++) {                                               \
            cg_view_col(&view, window, x);                                                         \
            pixel(passed, &view, input, output);                                                   \
            output += window->out.c;                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void name(declared, const cg_s16 *input, cg_s16 *output)                                       \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        for (int32_t b = 0; b < window->batch; b++) {                                              \
            for (int32_t y = 0; y < window->out.h; y++) {                                          \
                part(passed, input, output, y, 0, window->out.w);                                  \
                output += window->out.w * window->out.c;                                           \
            }                                                                                      \
            input += cg_shape_elements(&window->in);                                               \
        }                                                                                          \
    }

/* Defines a loop over parts from the last pixel to the first. */
#define CG_DEFINE_REVERSE_PARTS(name, part, declared, passed)                                      \
    void name(declared, const cg_s16 *input, cg_s16 *output)                                       \
    {                                                                                              \
        const cg_window *const window = &params->window;                                           \
        for (int32_t b = window->batch - 1; b >= 0; b--) {                                         \
            const cg_s16 *image = &input[b * cg_shape_elements(&window->in)];                      \
            cg_s16 *at = &output[(b + 1) * cg_shape_elements(&window->out)];                       \
            for (int32_t y = window->out.h - 1; y >= 0; y--) {                                     \
                for (int32_t x = window->out.w - 1; x >= 0; x--) {                                 \
                    at -= window->out.c;                                                           \
                    part(passed, image, at, y, x, x + 1);                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#endif /* CG_WINDOW_LOOPS_H */
