/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pointwise_mve_parts.h -- 1x1 convolution with stride 1, Helium: three pixels at a time.
 */
#ifndef CG_POINTWISE_MVE_PARTS_H
#define CG_POINTWISE_MVE_PARTS_H

#include "cg_mve_parts.h"

/* By any matrix product, or by that of whole vectors and fours of channels. */
#ifdef CG_DENSE
typedef cg_quads_mve layer_mve;
#define PRODUCT      CG_MVE_LOOP(dense3)
#define FORWARD_NAME CG_MVE_NAME(dense_s8_mve)
#define ROW_NAME     CG_MVE_NAME(dense_s8_mve_row)
#define REVERSE_NAME CG_MVE_NAME(dense_reverse_s8_mve)
#else
typedef cg_product_mve layer_mve;
#define PRODUCT      CG_MVE_LOOP(product3)
#define FORWARD_NAME CG_MVE_NAME(pointwise_s8_mve)
#define ROW_NAME     CG_MVE_NAME(pointwise_s8_mve_row)
#define REVERSE_NAME CG_MVE_NAME(pointwise_reverse_s8_mve)
#endif

/*
 * `count` groups of `pixels` pixels, 1 to 3, one after the other, forwards (step 3) or backwards
 * (-3). Of a pixel that lacks, the last one is done twice, to the same place.
 */
static void groups(const layer_mve *product, const int8_t *input, int8_t *output, int32_t pixels,
                   int32_t count, int32_t step)
{
    const int32_t written = (product->channels + 3) & ~3;
    cg_group_mve group = {
        .count = count,
        .patch_step = step * product->depth,
        .output_step = (step * product->channels) - written,
    };
    for (int32_t i = 0; i < 3; i++) {
        group.patch[i] = input;
        group.output[i] = output;
        if ((i + 1) < pixels) {
            input += product->depth;
            output += product->channels;
        }
    }
    PRODUCT(product, &group);
}

static void forwards(const layer_mve *product, const int8_t *input, int8_t *output, int32_t pixels)
{
    const int32_t rest = pixels % 3;
    const int32_t whole = pixels - rest;
    if (whole > 0) {
        groups(product, input, output, 3, whole / 3, 3);
    }
    if (rest > 0) {
        groups(product, &input[whole * product->depth], &output[whole * product->channels], rest, 1,
               3);
    }
}

void FORWARD_NAME(const cg_conv_params_mve *params, const layer_mve *product, const int8_t *input,
                  int8_t *output)
{
    forwards(product, input, output, cg_pixels_mve(&params->window));
}

void ROW_NAME(const cg_conv_params_mve *params, const layer_mve *product, const cg_rows *input,
              int8_t *output, int32_t y, int32_t x_start, int32_t x_stop)
{
    (void)params;
    forwards(product, &input->base[cg_rows_offset(input, y, x_start)], output, x_stop - x_start);
}

void REVERSE_NAME(const cg_conv_params_mve *params, const layer_mve *product, const int8_t *input,
                  int8_t *output)
{
    const int32_t pixels = cg_pixels_mve(&params->window);
    const int32_t rest = pixels % 3;
    if (pixels > rest) {
        groups(product, &input[(pixels - 3) * product->depth],
               &output[(pixels - 3) * product->channels], 3, pixels / 3, -3);
    }
    if (rest > 0) {
        groups(product, input, output, rest, 1, -3);
    }
}

#endif /* CG_POINTWISE_MVE_PARTS_H */
