/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_mve.h -- int8 kernels for Helium (M-profile vector extension, integer): parameters,
 * prototypes, contracts.
 *
 * All of them have this in common:
 *  - Results are bit-equal to the portable kernels. Zero points of images are folded into biases,
 *    so a tap in the padding is read as the zero point.
 *  - int8 tensors have any alignment: they are only accessed as bytes. Packed constants and
 *    workspaces are aligned to 4 bytes.
 *  - Nothing outside the tensors is read or written: loops are predicated by element.
 */
#ifndef CG_KERNELS_MVE_H
#define CG_KERNELS_MVE_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which requantization is exact. */
enum {
    CG_CLAMPED_MVE = 0, /* no result below the zero point, no positive shift */
    CG_NARROW_MVE = 1,  /* all shifts negative */
    CG_WIDE_MVE = 2     /* any */
};

/*
 * A matrix product with requantization: `channels` dot products of `depth` bytes a pixel.
 *
 * weight: groups of two or four channels, each group its int32 biases, then its weights channel
 * after channel, filled up to a multiple of 4 bytes; the channels left over are groups of one. The
 * weights of two channels alternate every 16 bytes if the depth is a multiple of 16. Groups of two:
 * of four channels the first and the third, the second and the fourth; of three left over the
 * first and the third, then the second.
 * scale: per four channels int32 multipliers and byte shifts (negative: to the right), scale_step
 * is 20; or one for all: then of 16 equal channels, and scale_step is 0.
 */
typedef struct {
    const int8_t *weight;
    const int8_t *scale;
    int32_t channels;
    int32_t depth;
    int32_t scale_step;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t rounding; /* one of the above, the least that holds */
    /* For groups of two: bytes of those of whole fours of channels, if they alternate (else 0), and
     * if they do not (else 0); then from behind what is loaded of a group to the next one. */
    int32_t woven_bytes;
    int32_t apart_bytes;
    int32_t skip;
} cg_product_mve;

/*
 * Three pixels: `depth` bytes of each, and where its results go. Pixels may be equal. `count` such
 * groups, each patch_step from the one before; output_step is from behind the results, counted in
 * whole fours.
 */
typedef struct {
    const int8_t *patch[3];
    int8_t *output[3];
    int32_t count;
    int32_t patch_step;
    int32_t output_step;
} cg_group_mve;

/* All channels of three pixels. Channels are written four at a time, each after its sums. */
void cg_product3_s8_mve(const cg_product_mve *product, const cg_group_mve *group);
/* All of one pixel, written in chunks of 16: weights in groups of four. */
void cg_product1_s8_mve(const cg_product_mve *product, const int8_t *patch, int8_t *output);

typedef struct {
    cg_window window;
    int32_t in_zero;
    int32_t is_padded; /* some window crosses an edge of the image */
} cg_conv_params_mve;

/*
 * 1x1 convolution of one or two pixels, fully connected of one or two rows: weights in groups of
 * four. Overlap: a pixel is written while it is read, its last chunk excepted.
 */
void cg_few_pixels_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                          const int8_t *input, int8_t *output);

/*
 * 1x1 convolution with stride 1, and many rows of fully connected: weights in groups of two. Three
 * pixels at a time, written while they are read, their last four channels excepted; reverse: the
 * groups are counted from the last pixel.
 */
void cg_pointwise_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                         const int8_t *input, int8_t *output);
void cg_pointwise_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                                 const int8_t *input, int8_t *output);
void cg_pointwise_s8_mve_row(const cg_conv_params_mve *params, const cg_product_mve *product,
                             const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                             int32_t x_stop);

/*
 * Any convolution without groups: weights in groups of two. Windows of three pixels are copied to
 * the workspace, 3 * depth bytes, before any of them is written.
 */
void cg_conv2d_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                      void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                              void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_s8_mve_row(const cg_conv_params_mve *params, const cg_product_mve *product,
                          void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                          int32_t x_start, int32_t x_stop);

/*
 * Pixels of `depth` bytes. stream, by 4 channels (the last ones filled up with 0): weights, int32
 * biases, int32 multipliers, byte shifts. rounding: CG_CLAMPED_MVE or CG_NARROW_MVE. Weights of
 * pixels of at most 16 bytes: 16 a channel (those behind `depth`: 0). Of whole 32 bytes: those of
 * the first and the third channel, alternating every 16, then of the second and the fourth.
 */
typedef struct {
    const int8_t *stream;
    int32_t channels;
    int32_t depth;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t rounding;
} cg_quads_mve;

/* Three pixels as `cg_product3_s8_mve` takes them, of whole 32 bytes, to whole fours of channels.
 */
void cg_dense3_s8_mve(const cg_quads_mve *layer, const cg_group_mve *group);

/* FULLY_CONNECTED; arguments as those of `cg_pointwise_s8_mve`. */
void cg_dense_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                     const int8_t *input, int8_t *output);
void cg_dense_reverse_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                             const int8_t *input, int8_t *output);
void cg_dense_s8_mve_row(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                         const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                         int32_t x_stop);

/* Pixels equally far apart. */
typedef struct {
    const int8_t *input;
    int32_t input_step;
    int8_t *output;
    int32_t output_step;
    int32_t pixels; /* > 0 */
} cg_narrow_run_mve;

void cg_narrow_run_s8_mve(const cg_quads_mve *layer, const cg_narrow_run_mve *run);

/*
 * 1x1 convolution without padding, fully connected. Three pixels of a row at a time, read before
 * they are written; with stride 1 all pixels are one row. reverse: counted from the last pixel.
 */
void cg_narrow_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                      const int8_t *input, int8_t *output);
void cg_narrow_reverse_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                              const int8_t *input, int8_t *output);
void cg_narrow_s8_mve_row(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                          const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                          int32_t x_stop);

/*
 * Windows of three columns, at most 21,844 `channels`. `depth`: bytes of a column, in whole
 * vectors. stream: int32 multipliers and byte shifts of all channels, each to an even number with
 * 0, up to a word; then by pairs of channels, and of the one that may be left: int32 biases, by 16
 * bytes of depth those of the three columns of each channel (0 where a column has fewer). Here
 * `pixels` from 1 to 4 of a row. columns: 16 bytes of each of six, the next 16 of each, and so on;
 * those that no pixel meets may be anything.
 */
void cg_columns3_s8_mve(const cg_quads_mve *layer, const int8_t *columns, int8_t *output,
                        int32_t pixels);

/*
 * Convolution with windows of three columns side by side, stride 1 along the row, no groups.
 * Workspace: six columns of `depth` bytes. The columns of four pixels are copied before any of the
 * pixels is written; reverse: counted from the last pixel of a row.
 */
void cg_conv2d_columns_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                              void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_columns_reverse_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                      void *workspace, const int8_t *input, int8_t *output);
void cg_conv2d_columns_s8_mve_row(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                  void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                  int32_t x_start, int32_t x_stop);

/*
 * A depthwise convolution with one output channel an input channel. stream: per 16 channels (the
 * last 8 or fewer: per 8) int32 biases, one byte a channel for every tap, then per 4 channels int32
 * multipliers and byte shifts; order of the channels: cg_depthwise_pixels_mve.inc. Products of the
 * two taps of a pair (those after the first, if `odd`) do not leave 16 bits together.
 */
typedef struct {
    const int8_t *stream;
    int32_t channels;
    int32_t pairs;
    int32_t odd;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t rounding;
} cg_depthwise_mve;

/* Pixels whose taps are the same bytes apart: tap t of the first one is at base + offsets[t]. */
typedef struct {
    const cg_s32 *offsets;
    uintptr_t base;
    int32_t step;        /* from pixel to pixel in the image */
    int32_t output_step; /* from behind a pixel's results to the next one's */
    int32_t pixels;
    int8_t *output;
} cg_depthwise_run_mve;

void cg_depthwise_pixels_s8_mve(const cg_depthwise_mve *layer, const cg_depthwise_run_mve *run);

/*
 * Any window. Workspace: an int32 for every tap, then, if there is padding, a pixel. A pixel's
 * channels are written 16 at a time, each after it was read.
 */
void cg_depthwise_conv2d_s8_mve(const cg_conv_params_mve *params, const cg_depthwise_mve *layer,
                                void *workspace, const int8_t *input, int8_t *output);
void cg_depthwise_conv2d_reverse_s8_mve(const cg_conv_params_mve *params,
                                        const cg_depthwise_mve *layer, void *workspace,
                                        const int8_t *input, int8_t *output);
void cg_depthwise_conv2d_s8_mve_row(const cg_conv_params_mve *params, const cg_depthwise_mve *layer,
                                    void *workspace, const cg_rows *input, int8_t *output,
                                    int32_t y, int32_t x_start, int32_t x_stop);

/*
 * Depthwise for windows of at most 3 rows and 3 columns that span at most 10 columns. stream: per
 * 16 channels by eights, of these first channels 0 2 4 6, then 1 3 5 7: int32 biases, 12 weights a
 * channel, column after column of four rows; then all int32 multipliers, byte shifts. What is left
 * by fours, the last ones with 0. rounding: CG_CLAMPED_MVE or CG_NARROW_MVE. stripe: pixels
 * computed together.
 */
typedef struct {
    const int8_t *stream;
    int32_t channels;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t rounding;
    int32_t stripe;
} cg_depthwise_small_mve;

/* Some pixels of a row. Rows in the padding are 16 zero points, with steps of 0. */
typedef struct {
    const int8_t *rows[3];  /* first column inside, channel 0 */
    int32_t steps[3];       /* from column to column */
    int32_t block_steps[3]; /* and from 16 channels to the next: 16 */
    int32_t left;           /* columns in the padding, inside, in the padding */
    int32_t inside;
    int32_t right;
    int32_t in_zero;
    void *columns;           /* 64 bytes for each */
    int32_t lanes[4];        /* bytes from the first column of the window to each, less 4 */
    int32_t column_steps[4]; /* from the window of one pixel to the next: 64 * stride; last 0 */
    int32_t pixels;
    int8_t *output;
} cg_stripe_mve;

/* Changes the stripe. */
void cg_depthwise_stripe_s8_mve(const cg_depthwise_small_mve *layer, cg_stripe_mve *stripe);

/*
 * Workspace: 64 bytes for each column of a stripe, then, if there is padding, 16. Stripe after
 * stripe, in these 16 channels after the other; of each all windows are read, then it is written.
 */
void cg_depthwise_small_s8_mve(const cg_conv_params_mve *params,
                               const cg_depthwise_small_mve *layer, void *workspace,
                               const int8_t *input, int8_t *output);
void cg_depthwise_small_reverse_s8_mve(const cg_conv_params_mve *params,
                                       const cg_depthwise_small_mve *layer, void *workspace,
                                       const int8_t *input, int8_t *output);
void cg_depthwise_small_s8_mve_row(const cg_conv_params_mve *params,
                                   const cg_depthwise_small_mve *layer, void *workspace,
                                   const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                   int32_t x_stop);

/* Up to 16 channels of an image whose rows are replaced one after the other. */
typedef struct {
    const int8_t *image; /* the next row to take in */
    int32_t rows;        /* of these, in the image */
    void *inside;        /* the column of pixel 0 */
    int32_t width;
    const int8_t *padding;   /* 16 zero points: what comes after the image */
    int32_t early;           /* rows taken in before the first result */
    void *columns;           /* 64 bytes for each: those in front of the image, then pixel 0's on */
    int32_t lanes[4];        /* bytes from the first column of the window to each, less 4 */
    int32_t column_steps[4]; /* 64, the last one 0 */
    int32_t pixels;
    int8_t *output;
    int32_t left; /* rows of results */
    const int8_t *stream;
    int32_t channels;
} cg_replaced_mve;

/* Changes the plane. */
void cg_depthwise_replace_s8_mve(const cg_depthwise_small_mve *layer, cg_replaced_mve *plane);

/*
 * Stride 1, dilation of rows 1, at most 4 rows and 3 columns, result and image the same size and
 * the same bytes. stream: as above, but weights of fewer than four rows are the last ones of their
 * columns. Workspace: 64 bytes for each column of the image and its padding, then, if there is
 * padding, 16.
 */
void cg_depthwise_in_place_s8_mve(const cg_conv_params_mve *params,
                                  const cg_depthwise_small_mve *layer, void *workspace,
                                  int8_t *image);

/*
 * Layers rounded as ONNX does, on cores with float Helium: a multiplier has the bits of a
 * float32 scale, shift and `rounding` count for nothing.
 */
void cg_product3_even_s8_mve(const cg_product_mve *product, const cg_group_mve *group);
void cg_product1_even_s8_mve(const cg_product_mve *product, const int8_t *patch, int8_t *output);
void cg_qlinear_few_pixels_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                                  const int8_t *input, int8_t *output);
void cg_qlinear_pointwise_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                                 const int8_t *input, int8_t *output);
void cg_qlinear_pointwise_reverse_s8_mve(const cg_conv_params_mve *params,
                                         const cg_product_mve *product, const int8_t *input,
                                         int8_t *output);
void cg_qlinear_pointwise_s8_mve_row(const cg_conv_params_mve *params,
                                     const cg_product_mve *product, const cg_rows *input,
                                     int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);
void cg_qlinear_conv2d_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                              void *workspace, const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_reverse_s8_mve(const cg_conv_params_mve *params,
                                      const cg_product_mve *product, void *workspace,
                                      const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_s8_mve_row(const cg_conv_params_mve *params, const cg_product_mve *product,
                                  void *workspace, const cg_rows *input, int8_t *output, int32_t y,
                                  int32_t x_start, int32_t x_stop);
void cg_dense3_even_s8_mve(const cg_quads_mve *layer, const cg_group_mve *group);
void cg_qlinear_dense_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                             const int8_t *input, int8_t *output);
void cg_qlinear_dense_reverse_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                     const int8_t *input, int8_t *output);
void cg_qlinear_dense_s8_mve_row(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                 const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                 int32_t x_stop);
void cg_narrow_run_even_s8_mve(const cg_quads_mve *layer, const cg_narrow_run_mve *run);
void cg_qlinear_narrow_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                              const int8_t *input, int8_t *output);
void cg_qlinear_narrow_reverse_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                      const int8_t *input, int8_t *output);
void cg_qlinear_narrow_s8_mve_row(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                  const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                  int32_t x_stop);
void cg_columns3_even_s8_mve(const cg_quads_mve *layer, const int8_t *columns, int8_t *output,
                             int32_t pixels);
void cg_qlinear_conv2d_columns_s8_mve(const cg_conv_params_mve *params, const cg_quads_mve *layer,
                                      void *workspace, const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_columns_reverse_s8_mve(const cg_conv_params_mve *params,
                                              const cg_quads_mve *layer, void *workspace,
                                              const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_columns_s8_mve_row(const cg_conv_params_mve *params,
                                          const cg_quads_mve *layer, void *workspace,
                                          const cg_rows *input, int8_t *output, int32_t y,
                                          int32_t x_start, int32_t x_stop);
void cg_depthwise_pixels_even_s8_mve(const cg_depthwise_mve *layer,
                                     const cg_depthwise_run_mve *run);
void cg_qlinear_depthwise_conv2d_s8_mve(const cg_conv_params_mve *params,
                                        const cg_depthwise_mve *layer, void *workspace,
                                        const int8_t *input, int8_t *output);
void cg_qlinear_depthwise_conv2d_reverse_s8_mve(const cg_conv_params_mve *params,
                                                const cg_depthwise_mve *layer, void *workspace,
                                                const int8_t *input, int8_t *output);
void cg_qlinear_depthwise_conv2d_s8_mve_row(const cg_conv_params_mve *params,
                                            const cg_depthwise_mve *layer, void *workspace,
                                            const cg_rows *input, int8_t *output, int32_t y,
                                            int32_t x_start, int32_t x_stop);
void cg_depthwise_stripe_even_s8_mve(const cg_depthwise_small_mve *layer, cg_stripe_mve *stripe);
void cg_qlinear_depthwise_small_s8_mve(const cg_conv_params_mve *params,
                                       const cg_depthwise_small_mve *layer, void *workspace,
                                       const int8_t *input, int8_t *output);
void cg_qlinear_depthwise_small_reverse_s8_mve(const cg_conv_params_mve *params,
                                               const cg_depthwise_small_mve *layer, void *workspace,
                                               const int8_t *input, int8_t *output);
void cg_qlinear_depthwise_small_s8_mve_row(const cg_conv_params_mve *params,
                                           const cg_depthwise_small_mve *layer, void *workspace,
                                           const cg_rows *input, int8_t *output, int32_t y,
                                           int32_t x_start, int32_t x_stop);
void cg_depthwise_replace_even_s8_mve(const cg_depthwise_small_mve *layer, cg_replaced_mve *plane);
void cg_qlinear_depthwise_in_place_s8_mve(const cg_conv_params_mve *params,
                                          const cg_depthwise_small_mve *layer, void *workspace,
                                          int8_t *image);

/* The taps of a window that are inside the image. */
typedef struct {
    int32_t step; /* from row to row */
    int32_t wrap; /* rows until the ring begins again, `ring_bytes` back */
    int32_t ring_bytes;
    int32_t rows;
    int32_t columns;
    int32_t channels; /* from column to column */
    int32_t act_min;
    int32_t act_max;
} cg_tap_grid_mve;

/* Sums of the taps of 1 to 4 channels, and maxima of 1 to 16, in their range. */
void cg_pool_sums_s8_mve(const cg_tap_grid_mve *grid, const int8_t *first, cg_s32 *sums,
                         int32_t channels);
void cg_pool_maxima_s8_mve(const cg_tap_grid_mve *grid, const int8_t *first, int8_t *maxima,
                           int32_t channels);

/*
 * Pools, as the portable kernels; a pixel's channels are written 4 (average) or 16 (maximum) at a
 * time, each after they were read.
 */
void cg_avg_pool2d_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_avg_pool2d_reverse_s8_mve(const cg_pool_params *params, const int8_t *input,
                                  int8_t *output);
void cg_avg_pool2d_s8_mve_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                              int32_t y, int32_t x_start, int32_t x_stop);
void cg_max_pool2d_s8_mve(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_max_pool2d_reverse_s8_mve(const cg_pool_params *params, const int8_t *input,
                                  int8_t *output);
void cg_max_pool2d_s8_mve_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                              int32_t y, int32_t x_start, int32_t x_stop);

/* (left * lhs + right * rhs + offset) * 2^shift, rounded, in the range: the result's zero point
 * too. */
typedef struct {
    int32_t count;
    int32_t lhs;
    int32_t rhs;
    int32_t offset;
    int32_t shift; /* negative */
    int32_t act_min;
    int32_t act_max;
} cg_add_params_mve;

/* Two tensors of one shape, four elements at a time, in place of either. */
void cg_add_s8_mve(const cg_add_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
void cg_add_s8_mve_run(const cg_add_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_MVE_H */
