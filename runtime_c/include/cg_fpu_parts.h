/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_fpu_parts.h -- tiles of pixels, shared by the kernels of cg_kernels_fpu.h. Included by kernels
 * only.
 */
#ifndef CG_FPU_PARTS_H
#define CG_FPU_PARTS_H

#include "cg_kernel_parts.h"
#include "cg_kernels_fpu.h"

/*
 * How windows are read, for tile_f32_fpu.S, which knows the offsets. Bytes where not said
 * otherwise. Each row of a window inside the image has `runs` runs of `run_len` values.
 */
typedef struct {
    int32_t blocks; /* of four channels, > 0 */
    int32_t rows;   /* -2 for each inside the image (0: none of it is); where the ring of rows
                       begins again, of those before, and 1 */
    int32_t runs;
    int32_t run_len;   /* depthwise: taps */
    int32_t x_gap;     /* from behind a run to the next one; depthwise: from tap to tap */
    int32_t x_row_gap; /* from there, behind the last run of a row, to the next row */
    int32_t w_lead;    /* weights in front of the first one inside */
    int32_t w_row_gap;
    int32_t w_tail;  /* from behind the last row to the biases */
    int32_t px_step; /* between the windows of neighbouring pixels */
    int32_t out_step;
    int32_t clamp;
    float low;
    float high;
    int32_t singles;   /* channels behind the blocks */
    int32_t wrapped;   /* -2 for each row behind the ring's end */
    int32_t ring_step; /* from its end to its begin */
} cg_tile_fpu;

CG_STATIC_ASSERT(offsetof(cg_tile_fpu, clamp) == 44, "tile_f32_fpu.S loads it");
CG_STATIC_ASSERT(offsetof(cg_tile_fpu, singles) == 56, "tile_f32_fpu.S loads it");
CG_STATIC_ASSERT(offsetof(cg_tile_fpu, ring_step) == 64, "tile_f32_fpu.S loads it");

#define CG_F32_BYTES   4
#define CG_BLOCK_FPU   4 /* channels */
#define CG_BLOCK_BYTES (CG_F32_BYTES * CG_BLOCK_FPU)
#define CG_TILE_FPU    4 /* pixels */

/* All of a tile but what depends on where its windows are, in pixels of so many bytes. */
static inline void cg_start_tile(cg_tile_fpu *tile, const cg_conv_params_fpu *params,
                                 int32_t pixel_bytes)
{
    const cg_window *const window = &params->window;
    tile->blocks = window->out.c / CG_BLOCK_FPU;
    tile->px_step = window->stride_w * pixel_bytes;
    tile->out_step = window->out.c * CG_F32_BYTES;
    tile->clamp = params->clamp;
    tile->low = params->act_min;
    tile->high = params->act_max;
    tile->singles = window->out.c % CG_BLOCK_FPU;
}

/* The taps of `view`, `tap_len` weights of a channel each; returns where they begin. */
static inline const cg_f32 *cg_tile_taps(cg_tile_fpu *tile, const cg_window *window,
                                         const cg_view *view, const cg_tap_rows *lines,
                                         int32_t tap_len)
{
    const int32_t rows = view->rows.stop - view->rows.first;
    const int32_t wrapped = (lines->wrap < view->rows.stop) ? (view->rows.stop - lines->wrap) : 0;
    const int32_t cols = view->cols.stop - view->cols.first;
    const int32_t tap_bytes = tap_len * CG_BLOCK_BYTES;
    const int32_t row_bytes = window->kernel_w * tap_bytes;
    const bool inside = (rows > 0) && (cols > 0);
    const int32_t first = (view->rows.first * row_bytes) + (view->cols.first * tap_bytes);
    tile->rows = inside ? ((-2 * (rows - wrapped)) + ((wrapped > 0) ? 1 : 0)) : 0;
    tile->wrapped = -2 * wrapped;
    tile->ring_step = -lines->ring_bytes;
    tile->w_lead = inside ? first : 0;
    tile->w_row_gap = row_bytes - (cols * tap_bytes);
    tile->w_tail = ((window->kernel_h - (inside ? rows : 0)) * row_bytes) - tile->w_lead;
    tile->x_row_gap = lines->step - (cols * window->dilation_w * lines->pixel_bytes);
    return cg_floats(inside ? cg_first_tap(lines, window, view) : lines->first);
}

/* Result columns of [x_start, x_stop) that have all columns of taps inside the image. */
static inline cg_taps cg_inside_fpu(const cg_window *window, int32_t x_start, int32_t x_stop)
{
    const int32_t last =
        window->in.w - 1 + window->pad_left - ((window->kernel_w - 1) * window->dilation_w);
    const int32_t start = (window->pad_left + window->stride_w - 1) / window->stride_w;
    const int32_t stop = (last < 0) ? 0 : ((last / window->stride_w) + 1);
    cg_taps inside = {
        .first = (start < x_start) ? x_start : ((start < x_stop) ? start : x_stop),
        .stop = (stop < x_stop) ? stop : x_stop,
    };
    inside.stop = (inside.stop < inside.first) ? inside.first : inside.stop;
    return inside;
}

typedef void cg_tile_loop(const cg_tile_fpu *tile, const float *w, const cg_f32 *x, cg_f32 *out);

/* tile_f32_mve.S where there is float Helium, else tile_f32_fpu.S: `blocks` of four channels. */
#if defined(__ARM_FEATURE_MVE) && ((__ARM_FEATURE_MVE & 2) != 0)
cg_tile_loop cg_conv4_f32_mve, cg_conv1_f32_mve, cg_dw4_f32_mve, cg_dw1_f32_mve;
#define CG_CONV4 cg_conv4_f32_mve
#define CG_CONV1 cg_conv1_f32_mve
#define CG_DW4   cg_dw4_f32_mve
#define CG_DW1   cg_dw1_f32_mve
#else
cg_tile_loop cg_conv4_f32_fpu, cg_conv1_f32_fpu, cg_dw4_f32_fpu, cg_dw1_f32_fpu;
#define CG_CONV4 cg_conv4_f32_fpu
#define CG_CONV1 cg_conv1_f32_fpu
#define CG_DW4   cg_dw4_f32_fpu
#define CG_DW1   cg_dw1_f32_fpu
#endif
/* tile_f32_fpu.S: the `singles`; `w` and `out` are theirs. */
cg_tile_loop cg_single4_f32_fpu, cg_single1_f32_fpu;
/* tile_f32w16_fpu.S: by weights that lie as float16, which `w` points to. */
cg_tile_loop cg_conv4_f32w16_fpu, cg_conv1_f32w16_fpu, cg_single4_f32w16_fpu, cg_single1_f32w16_fpu;

#endif /* CG_FPU_PARTS_H */
