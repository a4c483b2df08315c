/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_few_pixels_mve_parts.h -- 1x1 convolution of one or two pixels, or rows of fully connected,
 * Helium: pixel by pixel, four channels at a time.
 */
#ifndef CG_FEW_PIXELS_MVE_PARTS_H
#define CG_FEW_PIXELS_MVE_PARTS_H

#include "cg_mve_parts.h"

void CG_MVE_NAME(few_pixels_s8_mve)(const cg_conv_params_mve *params, const cg_product_mve *product,
                                    const int8_t *input, int8_t *output)
{
    for (int32_t left = cg_pixels_mve(&params->window); left > 0; left--) {
        CG_MVE_LOOP(product1)(product, input, output);
        input += product->depth;
        output += product->channels;
    }
}

#endif /* CG_FEW_PIXELS_MVE_PARTS_H */
