/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernel_parts.h -- what several portable kernels share. Included by kernels only.
 */
#ifndef CG_KERNEL_PARTS_H
#define CG_KERNEL_PARTS_H

#include "cg_fixed_point.h"
#include "cg_kernels.h"

/* ---- windows -------------------------------------------------------------------------- */

/* Taps [first, stop) of a window axis lie inside the image. */
typedef struct {
    int32_t first;
    int32_t stop;
} cg_taps;

/*
 * Taps of a window whose first tap is at `origin` (negative in the padding). Windows are short,
 * so stepping inwards is cheaper than the divisions of a closed formula.
 */
static inline cg_taps cg_clip_taps(int32_t origin, int32_t dilation, int32_t kernel, int32_t extent)
{
    cg_taps taps = {0, kernel};
    while ((taps.first < kernel) && ((origin + (taps.first * dilation)) < 0)) {
        taps.first++;
    }
    while ((taps.stop > taps.first) && ((origin + ((taps.stop - 1) * dilation)) >= extent)) {
        taps.stop--;
    }
    return taps;
}

/* One position of a window over an image: where it starts and which taps are inside. */
typedef struct {
    int32_t y;
    int32_t x;
    cg_taps rows;
    cg_taps cols;
} cg_view;

static inline void cg_view_row(cg_view *view, const cg_window *window, int32_t out_y)
{
    view->y = (out_y * window->stride_h) - window->pad_top;
    view->rows = cg_clip_taps(view->y, window->dilation_h, window->kernel_h, window->in.h);
}

static inline void cg_view_col(cg_view *view, const cg_window *window, int32_t out_x)
{
    view->x = (out_x * window->stride_w) - window->pad_left;
    view->cols = cg_clip_taps(view->x, window->dilation_w, window->kernel_w, window->in.w);
}

/*
 * Index in the image of the first tap inside, channel 0. Only for a view with at least one tap
 * inside: elsewhere it would point outside the image.
 */
static inline int32_t cg_view_start(const cg_view *view, const cg_window *window)
{
    const int32_t y = view->y + (view->rows.first * window->dilation_h);
    const int32_t x = view->x + (view->cols.first * window->dilation_w);
    return ((y * window->in.w) + x) * window->in.c;
}

/*
 * Rows of taps of an output row: the first tap row inside, then `step` bytes from one tap row
 * to the next, and `ring_bytes` back in front of tap row `wrap`, where the ring begins again (a tap
 * row that there is none of where it does not).
 */
typedef struct {
    const int8_t *first;
    int32_t x_origin;
    int32_t pixel_bytes;
    int32_t step;
    int32_t ring_bytes;
    int32_t wrap;
} cg_tap_rows;

/* Only for a view with a tap row inside is `first` inside the image; else it is the base. */
static inline cg_tap_rows cg_find_tap_rows(const cg_rows *rows, const cg_window *window,
                                           const cg_view *view)
{
    cg_tap_rows found = {
        .first = rows->base,
        .x_origin = rows->x_origin,
        .pixel_bytes = rows->pixel_bytes,
        .step = window->dilation_h * rows->row_bytes,
        .ring_bytes = rows->ring_rows * rows->row_bytes,
        .wrap = window->kernel_h,
    };
    if (view->rows.stop > view->rows.first) {
        const int32_t y = view->y + (view->rows.first * window->dilation_h);
        int32_t line = y % rows->ring_rows;
        found.first = &rows->base[line * rows->row_bytes];
        for (int32_t tap = view->rows.first; tap < view->rows.stop; tap++) {
            if (line >= rows->ring_rows) {
                found.wrap = tap;
                break;
            }
            line += window->dilation_h;
        }
    }
    return found;
}

/* The first tap inside, channel 0; only for a view with at least one tap inside. */
static inline const int8_t *cg_first_tap(const cg_tap_rows *rows, const cg_window *window,
                                         const cg_view *view)
{
    const int32_t x = view->x + (view->cols.first * window->dilation_w);
    return &rows->first[(x - rows->x_origin) * rows->pixel_bytes];
}

/* A dense image whose rows are all there. */
static inline cg_rows cg_all_rows(const cg_shape *shape, const int8_t *image)
{
    const cg_rows rows = {
        .base = image,
        .row_bytes = shape->w * shape->c,
        .ring_rows = shape->h,
        .x_origin = 0,
        .pixel_bytes = shape->c,
    };
    return rows;
}

/* All rows of an image of floats. */
static inline cg_rows cg_all_rows_f32(const cg_shape *shape, const cg_f32 *image)
{
    const int32_t pixel_bytes = shape->c * (int32_t)sizeof(float);
    const cg_rows rows = {
        .base = (const int8_t *)image,
        .row_bytes = shape->w * pixel_bytes,
        .ring_rows = shape->h,
        .x_origin = 0,
        .pixel_bytes = pixel_bytes,
    };
    return rows;
}

/* A place in rows of floats, which are aligned to 4 bytes. */
static inline const cg_f32 *cg_floats(const int8_t *place)
{
    return (const cg_f32 *)(const void *)place;
}

static inline int32_t cg_shape_elements(const cg_shape *shape)
{
    return shape->h * shape->w * shape->c;
}

/* ---- multiply-accumulate -------------------------------------------------------------- */

/* sum + x . w over n elements, modulo 2^32; four a turn, so that loads dominate. */
static inline uint32_t cg_dot_s8(uint32_t sum, const int8_t *x, const int8_t *w, int32_t n)
{
    for (; n >= 4; n -= 4) {
        sum += (uint32_t)(x[0] * w[0]);
        sum += (uint32_t)(x[1] * w[1]);
        sum += (uint32_t)(x[2] * w[2]);
        sum += (uint32_t)(x[3] * w[3]);
        x += 4;
        w += 4;
    }
    for (; n > 0; n--) {
        sum += (uint32_t)(*x++ * *w++);
    }
    return sum;
}

/* sum + x . (w - zero). */
static inline uint32_t cg_dot_u8(uint32_t sum, const int8_t *x, const int8_t *w, int32_t n,
                                 int32_t zero)
{
    for (; n > 0; n--) {
        sum += (uint32_t)(*x++ * (*w++ - zero));
    }
    return sum;
}

static inline float cg_dot_f32(float sum, const cg_f32 *x, const float *w, int32_t n)
{
    for (; n > 0; n--) {
        sum += *x++ * *w++;
    }
    return sum;
}

/* Accumulator -> stored value: requantize, add the zero point, apply the activation's range. */
static inline int8_t cg_store_s8(int32_t accumulator, int32_t multiplier, int32_t shift,
                                 int32_t zero, int32_t act_min, int32_t act_max)
{
    const int32_t scaled = cg_wrapping_add(cg_requantize(accumulator, multiplier, shift), zero);
    return (int8_t)cg_clamp_s32(scaled, act_min, act_max);
}

/* Products of an int16 and an int8 that 32 bits can hold the sum of: 511 * 2^22 < 2^31. */
#define CG_S16_RUN 511

/* sum + x . w over n elements; runs are summed in 32 bits, which cannot overflow. */
static inline int64_t cg_dot_s16(int64_t sum, const cg_s16 *x, const int8_t *w, int32_t n)
{
    while (n > 0) {
        int32_t run = (n > CG_S16_RUN) ? CG_S16_RUN : n;
        int32_t part = 0;
        n -= run;
        for (; run >= 4; run -= 4) {
            part += x[0] * w[0];
            part += x[1] * w[1];
            part += x[2] * w[2];
            part += x[3] * w[3];
            x += 4;
            w += 4;
        }
        for (; run > 0; run--) {
            part += *x++ * *w++;
        }
        sum += part;
    }
    return sum;
}

/* Value -> stored int16, requantized from 32 bits: the zero point is always 0. */
static inline int16_t cg_store_s16(int32_t accumulator, int32_t multiplier, int32_t shift,
                                   int32_t act_min, int32_t act_max)
{
    const int32_t scaled = cg_requantize(accumulator, multiplier, shift);
    return (int16_t)cg_clamp_s32(scaled, act_min, act_max);
}

/* NaN stays NaN. */
static inline float cg_clamp_one_f32(float x, float low, float high)
{
    const float raised = (x < low) ? low : x;
    return (raised > high) ? high : raised;
}

/* ---- broadcasting --------------------------------------------------------------------- */

/*
 * A kernel of two arguments is its innermost loop, `row(params, lhs, lhs_step, rhs, rhs_step,
 * output, n)`; this macro defines the function that walks the four outer axes around it. A macro,
 * because element and parameter types differ and a call per element would cost too much.
 */
#define CG_DEFINE_PAIRS(name, row, params_type, left, right, result)                               \
    void name(const params_type *params, const left *lhs, const right *rhs, result *output)        \
    {                                                                                              \
        const cg_axes *const n = &params->shape.extent;                                            \
        const cg_axes *const l = &params->shape.lhs_step;                                          \
        const cg_axes *const r = &params->shape.rhs_step;                                          \
        for (int32_t i0 = 0; i0 < n->d0; i0++) {                                                   \
            for (int32_t i1 = 0; i1 < n->d1; i1++) {                                               \
                for (int32_t i2 = 0; i2 < n->d2; i2++) {                                           \
                    for (int32_t i3 = 0; i3 < n->d3; i3++) {                                       \
                        row(params,                                                                \
                            &lhs[(i0 * l->d0) + (i1 * l->d1) + (i2 * l->d2) + (i3 * l->d3)],       \
                            l->d4,                                                                 \
                            &rhs[(i0 * r->d0) + (i1 * r->d1) + (i2 * r->d2) + (i3 * r->d3)],       \
                            r->d4, output, n->d4);                                                 \
                        output += n->d4;                                                           \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define CG_DEFINE_BROADCAST(name, row, params_type, element)                                       \
    CG_DEFINE_PAIRS(name, row, params_type, element, element, element)

/* `count` elements of two arguments of one shape, by the same `row`. */
#define CG_DEFINE_RUN(name, row, params_type, element)                                             \
    void name(const params_type *params, const element *lhs, const element *rhs, element *output,  \
              int32_t count)                                                                       \
    {                                                                                              \
        row(params, lhs, 1, rhs, 1, output, count);                                                \
    }

/* `name` as above around `name_run(params, lhs, rhs, output, n)`: neither argument is broadcast
 * along a run. */
#define CG_DEFINE_RUNS(name, row, params_type)                                                     \
    static void row(const params_type *params, const int8_t *lhs, int32_t lhs_step,                \
                    const int8_t *rhs, int32_t rhs_step, int8_t *output, int32_t n)                \
    {                                                                                              \
        (void)lhs_step;                                                                            \
        (void)rhs_step;                                                                            \
        name##_run(params, lhs, rhs, output, n);                                                   \
    }                                                                                              \
                                                                                                   \
    CG_DEFINE_BROADCAST(name, row, params_type, int8_t)

/* The `row` of a float kernel of two arguments: each pair by `op`, clamped. */
#define CG_DEFINE_ROW_F32(row, op)                                                                 \
    static void row(const cg_binary_params_f32 *params, const cg_f32 *lhs, int32_t lhs_step,       \
                    const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)                \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            *output++ = cg_clamp_one_f32((*lhs)op(*rhs), params->act_min, params->act_max);        \
            lhs += lhs_step;                                                                       \
            rhs += rhs_step;                                                                       \
        }                                                                                          \
    }

/* ---- reductions and other scales ------------------------------------------------------ */

/*
 * `name(reduction, x, sums)` adds all elements to the sums that they belong to. Innermost runs go
 * into one sum (step 0) or into as many sums as there are elements.
 */
#define CG_DEFINE_SUMS(name, element)                                                              \
    static void add_run(const element *x, cg_s32 *sums, int32_t step, int32_t n)                   \
    {                                                                                              \
        for (int32_t i = 0; i < n; i++) {                                                          \
            *sums += x[i];                                                                         \
            sums += step;                                                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name(const cg_reduction *reduction, const element *x, cg_s32 *sums)                \
    {                                                                                              \
        const cg_axes *const n = &reduction->extent;                                               \
        const cg_axes *const s = &reduction->out_step;                                             \
        for (int32_t i0 = 0; i0 < n->d0; i0++) {                                                   \
            for (int32_t i1 = 0; i1 < n->d1; i1++) {                                               \
                for (int32_t i2 = 0; i2 < n->d2; i2++) {                                           \
                    for (int32_t i3 = 0; i3 < n->d3; i3++) {                                       \
                        add_run(x,                                                                 \
                                &sums[(i0 * s->d0) + (i1 * s->d1) + (i2 * s->d2) + (i3 * s->d3)],  \
                                s->d4, n->d4);                                                     \
                        x += n->d4;                                                                \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Integers of one scale to another type of another scale, in [low, high]. */
#define CG_DEFINE_REQUANTIZE(name, from, to, low, high)                                            \
    void name(const cg_requantize_params *params, const from *input, to *output)                   \
    {                                                                                              \
        for (int32_t i = 0; i < params->count; i++) {                                              \
            const int32_t scaled =                                                                 \
                cg_requantize(input[i] - params->in_zero, params->multiplier, params->shift);      \
            const int32_t stored = cg_wrapping_add(scaled, params->out_zero);                      \
            output[i] = (to)cg_clamp_s32(stored, low, high);                                       \
        }                                                                                          \
    }

#endif /* CG_KERNEL_PARTS_H */
