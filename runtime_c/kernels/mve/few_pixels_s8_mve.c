/* SPDX-License-Identifier: Apache-2.0 */
/*
 * few_pixels_s8_mve.c -- 1x1 convolution of one or two pixels, or rows of fully connected, Helium:
 * pixel by pixel, four channels at a time.
 */
#include "cg_mve_parts.h"

void cg_few_pixels_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                          const int8_t *input, int8_t *output)
{
    for (int32_t left = cg_pixels_mve(&params->window); left > 0; left--) {
        cg_product1_s8_mve(product, input, output);
        input += product->depth;
        output += product->channels;
    }
}
