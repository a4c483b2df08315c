/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels.h -- the portable kernels: parameters, prototypes, contracts.
 *
 * Rules that hold for all of them unless a kernel says otherwise:
 *  - Tensors are dense and row-major: images NHWC, convolution weights OHWI, depthwise weights
 *    1HWO, fully connected weights [O, I]. Extents are positive and counted in elements.
 *  - int8 tensors have any alignment; float tensors, int32 constants and workspaces are aligned
 *    to 4 bytes.
 *  - Arguments are read front to back, so the result may start at or below ("behind") an argument
 *    where the kernel's comment permits it. "In place" below means: the result's address is not
 *    above the argument's. Everything else must not overlap.
 *  - Quantised results are bit-equal to TFLite's reference kernels. Accumulators wrap.
 */
#ifndef CG_KERNELS_H
#define CG_KERNELS_H

#include <stdbool.h>

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images and windows --------------------------------------------------------------- */

typedef struct {
    int32_t h;
    int32_t w;
    int32_t c;
} cg_shape;

/* A window sliding over an image; padding before the image only, behind it follows from `out`. */
typedef struct {
    int32_t batch;
    cg_shape in;
    cg_shape out;
    int32_t kernel_h;
    int32_t kernel_w;
    int32_t stride_h;
    int32_t stride_w;
    int32_t dilation_h;
    int32_t dilation_w;
    int32_t pad_top;
    int32_t pad_left;
} cg_window;

/*
 * Rows of an image of any element type: all of them, or the last few of them in a ring. Pixel (y,
 * x) lies at base + (y % ring_rows) * row_bytes + (x - x_origin) * pixel_bytes.
 */
typedef struct {
    const int8_t *base;
    int32_t row_bytes;
    int32_t ring_rows;
    int32_t x_origin;
    int32_t pixel_bytes; /* all channels of a pixel */
} cg_rows;

/* Offset in bytes of pixel (y, x) from the base. */
static inline size_t cg_rows_offset(const cg_rows *rows, int32_t y, int32_t x)
{
    const int32_t line = (y % rows->ring_rows) * rows->row_bytes;
    return (size_t)(line + ((x - rows->x_origin) * rows->pixel_bytes));
}

/* Offset in elements of rows of floats. */
static inline size_t cg_rows_offset_f32(const cg_rows *rows, int32_t y, int32_t x)
{
    return cg_rows_offset(rows, y, x) / sizeof(float);
}

typedef struct {
    cg_window window;
    int32_t groups; /* depthwise: unused */
    int32_t in_zero;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
} cg_conv_params;

/*
 * Weights and per-channel numbers. Channel o is requantized with multiplier[o * scale_step],
 * shift[o * scale_step]: scale_step is 0 where all channels have one scale, else 1.
 * bias is int32_t[O]; for conv2d and fully_connected it already holds bias - in_zero * sum(w).
 */
typedef struct {
    const int8_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t scale_step;
} cg_conv_weights;

/* Weights of uint8, held as int8 with 128 less: a weight counts as what is stored less the zero.
 */
typedef struct {
    const int8_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t scale_step;
    int32_t weight_zero;
} cg_conv_weights_u8;

typedef struct {
    cg_window window;
    int32_t groups; /* depthwise: unused */
    float act_min;
    float act_max;
} cg_conv_params_f32;

typedef struct {
    const float *weight;
    const float *bias;
} cg_conv_weights_f32;

/* Weights that lie as float16: the bits of each. */
typedef struct {
    const uint16_t *weight;
    const float *bias;
} cg_conv_weights_f32w16;

/*
 * Input channel group g = o / (out.c / groups) feeds output channel o.
 * Overlap: an output pixel is written after its whole window has been read, channel after channel.
 */
void cg_conv2d_s8(const cg_conv_params *params, const cg_conv_weights *weights, const int8_t *input,
                  int8_t *output);
/* Result row y, columns [x_start, x_stop): `output` is where the first of these pixels goes. */
void cg_conv2d_s8_row(const cg_conv_params *params, const cg_conv_weights *weights,
                      const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                      int32_t x_stop);
void cg_conv2d_f32(const cg_conv_params_f32 *params, const cg_conv_weights_f32 *weights,
                   const cg_f32 *input, cg_f32 *output);
void cg_conv2d_f32_row(const cg_conv_params_f32 *params, const cg_conv_weights_f32 *weights,
                       const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                       int32_t x_stop);
/* Convolution by weights that lie as float16, each widened as it is read. */
void cg_conv2d_f32w16(const cg_conv_params_f32 *params, const cg_conv_weights_f32w16 *weights,
                      const cg_f32 *input, cg_f32 *output);
void cg_conv2d_f32w16_row(const cg_conv_params_f32 *params, const cg_conv_weights_f32w16 *weights,
                          const cg_rows *input, cg_f32 *output, int32_t y, int32_t x_start,
                          int32_t x_stop);

void cg_conv2d_u8(const cg_conv_params *params, const cg_conv_weights_u8 *weights,
                  const int8_t *input, int8_t *output);
void cg_conv2d_u8_row(const cg_conv_params *params, const cg_conv_weights_u8 *weights,
                      const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                      int32_t x_stop);

/* Convolution from the last pixel to the first, channels still in order: `row_major_above`. */
void cg_conv2d_reverse_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                          const int8_t *input, int8_t *output);

/* Output channel o reads input channel o / (out.c / in.c). Overlap as conv2d, by channel. */
void cg_depthwise_conv2d_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                            const int8_t *input, int8_t *output);
void cg_depthwise_conv2d_s8_row(const cg_conv_params *params, const cg_conv_weights *weights,
                                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                int32_t x_stop);
void cg_depthwise_conv2d_f32(const cg_conv_params_f32 *params, const cg_conv_weights_f32 *weights,
                             const cg_f32 *input, cg_f32 *output);
void cg_depthwise_conv2d_f32_row(const cg_conv_params_f32 *params,
                                 const cg_conv_weights_f32 *weights, const cg_rows *input,
                                 cg_f32 *output, int32_t y, int32_t x_start, int32_t x_stop);

void cg_depthwise_conv2d_u8(const cg_conv_params *params, const cg_conv_weights_u8 *weights,
                            const int8_t *input, int8_t *output);
void cg_depthwise_conv2d_u8_row(const cg_conv_params *params, const cg_conv_weights_u8 *weights,
                                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                int32_t x_stop);

void cg_depthwise_conv2d_reverse_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                                    const int8_t *input, int8_t *output);

/*
 * Stride 1, one output channel an input channel, a result as large as the image: it replaces the
 * image in its bytes. Workspace: cg_depthwise_in_place_workspace_bytes().
 */
void cg_depthwise_conv2d_in_place_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                                     int8_t *image, void *workspace);

/* Bytes of as many padded rows of one channel as the window is high. */
static inline size_t cg_depthwise_in_place_workspace_bytes(const cg_conv_params *params)
{
    const cg_window *const window = &params->window;
    const int32_t rows = ((window->kernel_h - 1) * window->dilation_h) + 1;
    const int32_t row_len = window->in.w + ((window->kernel_w - 1) * window->dilation_w);
    return (size_t)(rows * row_len);
}

/* Depthwise on floats in place; only taps inside the image are summed, as in
 * cg_depthwise_conv2d_f32. */
void cg_depthwise_conv2d_in_place_f32(const cg_conv_params_f32 *params,
                                      const cg_conv_weights_f32 *weights, cg_f32 *image,
                                      void *workspace);

/* Rows that a window covers, or all of an image that has fewer. */
static inline int32_t cg_covered_rows(const cg_window *window)
{
    const int32_t rows = ((window->kernel_h - 1) * window->dilation_h) + 1;
    return (rows < window->in.h) ? rows : window->in.h;
}

/* Bytes of as many rows of one channel as a window covers. */
static inline size_t cg_depthwise_in_place_f32_workspace_bytes(const cg_conv_params_f32 *params)
{
    const cg_window *const window = &params->window;
    return (size_t)(cg_covered_rows(window) * window->in.w) * sizeof(float);
}

typedef struct {
    int32_t rows;
    int32_t in_len;
    int32_t out_len;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
} cg_fc_params;

typedef struct {
    int32_t rows;
    int32_t in_len;
    int32_t out_len;
    float act_min;
    float act_max;
} cg_fc_params_f32;

/* input [rows, in_len], output [rows, out_len]. */
void cg_fully_connected_s8(const cg_fc_params *params, const cg_conv_weights *weights,
                           const int8_t *input, int8_t *output);
void cg_fully_connected_u8(const cg_fc_params *params, const cg_conv_weights_u8 *weights,
                           const int8_t *input, int8_t *output);
void cg_fully_connected_f32(const cg_fc_params_f32 *params, const cg_conv_weights_f32 *weights,
                            const cg_f32 *input, cg_f32 *output);
void cg_fully_connected_f32w16(const cg_fc_params_f32 *params,
                               const cg_conv_weights_f32w16 *weights, const cg_f32 *input,
                               cg_f32 *output);

typedef struct {
    cg_window window;
    int32_t act_min;
    int32_t act_max;
} cg_pool_params;

typedef struct {
    cg_window window;
    float act_min;
    float act_max;
} cg_pool_params_f32;

/* Every window holds an element of the image; padding counts for nothing. Overlap by channel. */
void cg_avg_pool2d_s8(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_avg_pool2d_s8_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                          int32_t y, int32_t x_start, int32_t x_stop);
/* Halves up, as those of the uint8 that stands for 128 more: else away from zero. */
void cg_avg_pool2d_u8(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_avg_pool2d_u8_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                          int32_t y, int32_t x_start, int32_t x_stop);
void cg_avg_pool2d_f32(const cg_pool_params_f32 *params, const cg_f32 *input, cg_f32 *output);
void cg_avg_pool2d_f32_row(const cg_pool_params_f32 *params, const cg_rows *input, cg_f32 *output,
                           int32_t y, int32_t x_start, int32_t x_stop);
void cg_max_pool2d_s8(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_max_pool2d_s8_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                          int32_t y, int32_t x_start, int32_t x_stop);
void cg_avg_pool2d_reverse_s8(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_max_pool2d_reverse_s8(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_max_pool2d_f32(const cg_pool_params_f32 *params, const cg_f32 *input, cg_f32 *output);
void cg_max_pool2d_f32_row(const cg_pool_params_f32 *params, const cg_rows *input, cg_f32 *output,
                           int32_t y, int32_t x_start, int32_t x_stop);

/* ---- walks over up to five axes ------------------------------------------------------- */

/* One number per axis, outermost first; unused outer axes have extent 1. */
typedef struct {
    int32_t d0;
    int32_t d1;
    int32_t d2;
    int32_t d3;
    int32_t d4;
} cg_axes;

/* Reduction: the argument's extents, and how far each axis moves in the result (0: summed over). */
typedef struct {
    cg_axes extent;
    cg_axes out_step;
    int32_t out_len;
    int32_t count; /* elements in one mean */
} cg_reduction;

typedef struct {
    cg_reduction reduction;
    int32_t sum_offset; /* added to each sum: -in_zero * count */
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
} cg_mean_params;

/*
 * Mean over axes; workspace: cg_mean_s8_workspace_bytes(). Sub-step 0 reads the input and fills
 * the workspace with sums, sub-step 1 only reads the workspace: the output may overlap the input
 * in any way.
 */
void cg_mean_s8(const cg_mean_params *params, const int8_t *input, int8_t *output, void *workspace);

static inline size_t cg_mean_s8_workspace_bytes(const cg_mean_params *params)
{
    return (size_t)params->reduction.out_len * sizeof(int32_t);
}

/* Sums build up in the output itself. */
void cg_mean_f32(const cg_reduction *params, const cg_f32 *input, cg_f32 *output);

/* ---- two arguments -------------------------------------------------------------------- */

/* Extents of the result, and how far each axis moves in the arguments (0: broadcast). */
typedef struct {
    cg_axes extent;
    cg_axes lhs_step;
    cg_axes rhs_step;
} cg_broadcast;

typedef struct {
    cg_broadcast shape;
    int32_t lhs_zero;
    int32_t rhs_zero;
    int32_t out_zero;
    int32_t left_shift;
    int32_t lhs_multiplier;
    int32_t rhs_multiplier;
    int32_t out_multiplier;
    int32_t lhs_shift;
    int32_t rhs_shift;
    int32_t out_shift;
    int32_t act_min;
    int32_t act_max;
} cg_add_params;

typedef struct {
    cg_broadcast shape;
    int32_t lhs_zero;
    int32_t rhs_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
    int32_t act_min;
    int32_t act_max;
} cg_mul_params;

typedef struct {
    cg_broadcast shape;
    float act_min;
    float act_max;
} cg_binary_params_f32;

/*
 * In place of an argument that is not broadcast. SUB on int8 is cg_add_s8 with rhs_multiplier
 * negated: so TFLite rounds it.
 */
void cg_add_s8(const cg_add_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *output);
/* `count` elements, one after the other in all three: the shape plays no part. */
void cg_add_s8_run(const cg_add_params *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output, int32_t count);
void cg_mul_s8(const cg_mul_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *output);
void cg_add_f32(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                cg_f32 *output);
void cg_add_f32_run(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    cg_f32 *output, int32_t count);
void cg_sub_f32(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                cg_f32 *output);
void cg_sub_f32_run(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    cg_f32 *output, int32_t count);
void cg_mul_f32(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                cg_f32 *output);
void cg_mul_f32_run(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    cg_f32 *output, int32_t count);

/* ---- moving bytes, any element type --------------------------------------------------- */

typedef struct {
    int32_t rows;
    int32_t count;
    const int32_t *row_bytes; /* one per input */
} cg_concat_params;

/*
 * Row r of the output is row r of inputs[0], of inputs[1], ... up to inputs[count - 1]. Where an
 * input is NULL its part of the output stays as it is.
 */
void cg_concat(const cg_concat_params *params, const void *const *inputs, void *output);

/* The first `added` bytes of the window leave it, the other `kept` ones take their place, and the
 * frame's `added` bytes follow them. The frame lies apart from the window. */
void cg_shift(const void *frame, int32_t added, void *window, int32_t kept);

/* A walk that copies blocks: steps are in bytes and may be negative or 0. */
typedef struct {
    cg_axes extent;
    cg_axes step_bytes;
    int32_t first_bytes; /* offset of the first block */
    int32_t block_bytes;
} cg_block_walk;

/* output (dense) = blocks of the input in the walk's order: TRANSPOSE and STRIDED_SLICE. */
void cg_gather(const cg_block_walk *params, const void *input, void *output);

typedef struct {
    cg_block_walk walk; /* over the output */
    int32_t out_bytes;
    int32_t value;       /* bits of one padding element; of 8 bytes: its number */
    int32_t value_bytes; /* 1, 2, 4 or 8; 1 also for wider elements whose bytes are all alike */
} cg_pad_params;

/* Fills the output with the value, then scatters the dense input's blocks into it. */
void cg_pad(const cg_pad_params *params, const void *input, void *output);

/*
 * A place in the values is `depth` indices, one for each of the last `depth` axes of `extent`. Each
 * of `batches` has indices of its own, `count` places, which serve its `groups` of the values.
 */
typedef struct {
    cg_axes extent;
    cg_axes step_bytes;
    int32_t depth;
    int32_t batches;
    int32_t groups;
    int32_t count;
    int32_t index_words; /* 1 for int32, 2 for int64, of which the low word counts */
    int32_t group_bytes;
    int32_t block_bytes;
} cg_take_params;

/*
 * output (dense) = the block of the values at each place: GATHER and GATHER_ND. An index beyond its
 * axis is clamped to it.
 */
void cg_take(const cg_take_params *params, const void *values, const cg_s32 *indices, void *output);

/* ---- blocks: several layers at once, row by row ----------------------------------------- */

/*
 * One layer of a block. For its row y it reads rows of its arguments up to y * stride + reach,
 * and none behind last_row. The arguments are results of the stages `producer`; -1: none, or an
 * image that is there in whole.
 */
typedef struct {
    int16_t producer[2];
    int16_t stride;
    int16_t reach;
    int16_t last_row;
} cg_stage;

/*
 * The stage that has to compute its next row for the last stage to come nearer to its own: from
 * stage `last` on, to a producer as long as one lacks a row. done[i] is the number of rows that
 * stage i has. A producer stands before its reader, so this ends.
 */
static inline int32_t cg_next_stage(const cg_stage *stages, const int16_t *done, int32_t last)
{
    int32_t found = last;
    int32_t stage;
    do {
        const cg_stage *const reader = &stages[found];
        const int32_t reads = (done[found] * reader->stride) + reader->reach;
        const int32_t needed = (reads < reader->last_row) ? reads : reader->last_row;
        stage = found;
        for (int32_t i = 1; i >= 0; i--) {
            const int32_t producer = reader->producer[i];
            if ((producer >= 0) && (done[producer] <= needed)) {
                found = producer;
            }
        }
    } while (found != stage);
    return stage;
}

/* ---- element by element --------------------------------------------------------------- */

/* output[i] = table[(uint8_t)input[i]]: any function of one int8 or uint8. In place. */
void cg_lut_s8(const int8_t *table, const void *input, void *output, int32_t count);

/* Looks results up in a table of 256 for each of `channels`, which take turns. In place. */
void cg_lut_channels_s8(const int8_t *table, int32_t channels, const void *input, void *output,
                        int32_t count);

typedef struct {
    int32_t rows;
    int32_t depth;
    int32_t multiplier;
    int32_t shift;
    int32_t diff_min;
} cg_softmax_params;

/* Softmax over the last axis, result scale 1/256, zero point -128; depth < 4096. In place. */
void cg_softmax_s8(const cg_softmax_params *params, const int8_t *input, int8_t *output);

typedef struct {
    int32_t rows;
    int32_t depth;
    float beta;
} cg_softmax_params_f32;

/* In place. */
void cg_softmax_f32(const cg_softmax_params_f32 *params, const cg_f32 *input, cg_f32 *output);

typedef struct {
    float scale;
    int32_t zero;
} cg_quantize_params;

/* round(x / scale) + zero, halves away from zero, clamped; NaN gives -128. In place (the result
 * may start up to 3 bytes above the argument: it is a quarter as long). */
void cg_quantize_f32_s8(const cg_quantize_params *params, const cg_f32 *input, int8_t *output,
                        int32_t count);

/* scale * (x - zero). The result may start 3 * (count - 1) bytes or more below the argument. */
void cg_dequantize_s8_f32(const cg_quantize_params *params, const int8_t *input, cg_f32 *output,
                          int32_t count);

/* Quantises as cg_quantize_f32_s8 does, with zero point 0; NaN gives the least. In place. */
void cg_quantize_f32_s32(const cg_quantize_params *params, const cg_f32 *input, cg_s32 *output,
                         int32_t count);
/* scale * x. In place. */
void cg_dequantize_s32_f32(const cg_quantize_params *params, const cg_s32 *input, cg_f32 *output,
                           int32_t count);

/* QUANTIZE between integers: in_zero and out_zero are 0 for 16 bits and more. */
typedef struct {
    int32_t count;
    int32_t in_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
} cg_requantize_params;

/* The result may start up to 3 bytes above the argument: it is a quarter as long. */
void cg_requantize_s32_s8(const cg_requantize_params *params, const cg_s32 *input, int8_t *output);
/* The result may start 3 * (`count` - 1) bytes or more below the argument. */
void cg_requantize_s8_s32(const cg_requantize_params *params, const int8_t *input, cg_s32 *output);
/* In place. */
void cg_requantize_s32_s32(const cg_requantize_params *params, const cg_s32 *input, cg_s32 *output);
/* In place. */
void cg_requantize_s8_u8(const cg_requantize_params *params, const int8_t *input, uint8_t *output);
/* In place. */
void cg_requantize_u8_s8(const cg_requantize_params *params, const uint8_t *input, int8_t *output);
/* uint8 to int8 of the same meaning, 128 less, or back: each byte with the other sign bit. In
 * place. */
void cg_turn_sign(const void *input, void *output, int32_t count);

/* min(max(x, low), high): RELU, RELU6. In place. */
void cg_clamp_f32(float low, float high, const cg_f32 *input, cg_f32 *output, int32_t count);
/* x > 0 ? x : alpha * x. In place. */
void cg_leaky_relu_f32(float alpha, const cg_f32 *input, cg_f32 *output, int32_t count);
/* x / 2 * (1 + erf(x / sqrt(2))), or by tanh. In place. */
void cg_gelu_f32(int32_t by_tanh, const cg_f32 *input, cg_f32 *output, int32_t count);
/* 1 / (1 + exp(-x)). In place. */
void cg_logistic_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
/* In place. */
void cg_tanh_f32(const cg_f32 *input, cg_f32 *output, int32_t count);

/* Functions of one float, each as its source states it. In place. */
void cg_abs_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_neg_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_ceil_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_cos_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_elu_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_exponential_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_floor_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_hard_swish_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_log_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_round_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_rsqrt_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_sin_f32(const cg_f32 *input, cg_f32 *output, int32_t count);
void cg_sqrt_f32(const cg_f32 *input, cg_f32 *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_H */
