/*
 * cg_kernels_mve.h -- int8 kernels for Helium (M-profile vector extension, integer): parameters,
 * prototypes, contracts.
 *
 * What holds for all of them:
 *  - Results are bit-equal to the portable kernels. Zero points of images are folded into biases,
 *    so a tap in the padding is read as the zero point.
 *  - int8 tensors have any alignment: they are only accessed as bytes. Packed constants and
 *    workspaces are aligned to 4 bytes.
 *  - Nothing outside the tensors is read or written: loops are predicated by element.
 *  - Constants are packed by codegen/kernels/mve/packing.py.
 */
#ifndef CG_KERNELS_MVE_H
#define CG_KERNELS_MVE_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which requantisation is exact. */
enum {
    CG_CLAMPED_MVE = 0, /* no result below the zero point, no positive shift */
    CG_NARROW_MVE = 1,  /* all shifts negative */
    CG_WIDE_MVE = 2     /* any */
};

/*
 * A matrix product with requantisation: `channels` dot products of `depth` bytes a pixel.
 *
 * weight: groups of `tile` channels, each group its int32 biases, then its weights channel after
 * channel, filled up to a multiple of 4 bytes; the channels left over are groups of one.
 * multiplier and shift (negative: to the right) are per channel, and `chunk_step` is 16; or one
 * for all: then 16 equal ones, and `chunk_step` is 0.
 */
typedef struct {
    const int8_t *weight;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t channels;
    int32_t depth;
    int32_t chunk_step;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
    int32_t rounding; /* one of the above, the least that holds */
} cg_product_mve;

/* Three pixels: `depth` bytes of each, and where its results go. Pixels may be equal. */
typedef struct {
    const int8_t *patch[3];
    int8_t *output[3];
} cg_group_mve;

/* All channels of three pixels. Channels are written in chunks of 16, each after its sums. */
void cg_product3_s8_mve(const cg_product_mve *product, const cg_group_mve *pixels);
/* All channels of one pixel: weights in groups of four (`tile`). */
void cg_product1_s8_mve(const cg_product_mve *product, const int8_t *patch, int8_t *output);

typedef struct {
    cg_window window;
    int32_t in_zero;
} cg_conv_params_mve;

/*
 * 1x1 convolution of one or two pixels, fully connected of one or two rows: weights in groups of
 * four. Overlap: a pixel is written while it is read, its last chunk excepted.
 */
void cg_few_pixels_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                          const int8_t *input, int8_t *output);

/*
 * 1x1 convolution with stride 1, and many rows of fully connected: weights in groups of two. Three
 * pixels at a time, written while they are read, their last chunks excepted; reverse: the groups
 * are counted from the last pixel.
 */
void cg_pointwise_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                         const int8_t *input, int8_t *output);
void cg_pointwise_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                                 const int8_t *input, int8_t *output);

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

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_MVE_H */
