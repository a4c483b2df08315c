/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_layer_norm_s8.c -- layer normalisation of rows, int8: the variance as an integer, its
 * inverse root by Newton's method, two products an element.
 */
#include "cg_fixed_point.h"
#include "cg_kernels_qlinear.h"
#include "cg_round_even.h"

/* The inverse root of the upper 32 bits of `number` as a fraction, 29 bits behind the point, when
 * the pairs of zeros in front of it are gone. */
static int32_t inverse_root(uint64_t number, int32_t *pairs)
{
    const uint32_t upper = (uint32_t)(number >> 32);
    const int32_t zeros =
        (upper != 0u) ? cg_leading_zeros(upper) : (32 + cg_leading_zeros((uint32_t)number));
    *pairs = zeros / 2;
    const uint32_t fraction = (uint32_t)((number << (2 * *pairs)) >> 32);
    uint32_t root = 2233382994u - (fraction >> 2) - (fraction >> 5); /* 30 bits behind the point */
    for (int32_t i = 0; i < 4; i++) {
        const uint32_t square = (uint32_t)(cg_product_u32(root, root) >> 32);
        const uint32_t error = (uint32_t)(cg_product_u32(fraction, square) >> 32);
        root = (uint32_t)(cg_product_u32(root, (3u << 28) - error) >> 29);
    }
    return (int32_t)(root >> 1);
}

void cg_qlinear_layer_norm_s8(const cg_qlinear_layer_norm_params *params, const int32_t *scales,
                              const int32_t *offsets, const int8_t *input, int8_t *output)
{
    const int32_t n = params->columns;
    for (int32_t row = 0; row < params->rows; row++) {
        int32_t sum = 0;
        int32_t squares = 0;
#pragma GCC unroll 4
        for (int32_t i = 0; i < n; i++) {
            sum += input[i];
            squares += input[i] * input[i];
        }
        const uint64_t variance = (uint64_t)(cg_product_s32(n, squares) - cg_product_s32(sum, sum));
        const uint64_t epsilon = (uint64_t)(uint32_t)params->epsilon << params->epsilon_shift;
        int32_t pairs;
        const int32_t root =
            inverse_root((variance == 0u) ? 65536u : ((variance << 16) + epsilon), &pairs);
        const int32_t up = params->aligned + pairs;
        const int32_t shift = params->shift;
#pragma GCC unroll 2
        for (int32_t i = 0; i < n; i++) {
            const int32_t difference = (int32_t)((uint32_t)((n * input[i]) - sum) << up);
            const int32_t level = cg_upper_product(difference, root);
            const int32_t units = (cg_upper_product(level, scales[i]) + offsets[i]) >> shift;
            output[i] = (int8_t)cg_clamp_s32(units, -128, 127);
        }
        input += n;
        output += n;
    }
}
