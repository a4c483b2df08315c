/*
 * pointwise_s8_mve.c -- 1x1 convolution with stride 1, Helium: three pixels at a time.
 */
#include "cg_mve_parts.h"

/* `pixels` of them, 1 to 3: what lacks is done twice, to the same place. */
static void group(const cg_product_mve *product, const int8_t *input, int8_t *output,
                  int32_t pixels)
{
    cg_group_mve at;
    for (int32_t i = 0; i < 3; i++) {
        at.patch[i] = input;
        at.output[i] = output;
        if ((i + 1) < pixels) {
            input += product->depth;
            output += product->channels;
        }
    }
    cg_product3_s8_mve(product, &at);
}

void cg_pointwise_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                         const int8_t *input, int8_t *output)
{
    for (int32_t left = cg_pixels_mve(&params->window); left > 0; left -= 3) {
        group(product, input, output, left);
        input += 3 * product->depth;
        output += 3 * product->channels;
    }
}

void cg_pointwise_reverse_s8_mve(const cg_conv_params_mve *params, const cg_product_mve *product,
                                 const int8_t *input, int8_t *output)
{
    int32_t left = cg_pixels_mve(&params->window);
    while (left > 0) {
        const int32_t count = (left < 3) ? left : 3;
        left -= count;
        group(product, &input[left * product->depth], &output[left * product->channels], count);
    }
}
