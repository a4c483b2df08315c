/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_softmax_s8.c -- softmax of rows, int8, results of any scale: exponentials by a table, one
 * quotient a row, one product an element.
 */
#include "cg_fixed_point.h"
#include "cg_kernels_qlinear.h"

static int32_t largest(const int8_t *x, int32_t n)
{
    int32_t most = -128;
#pragma GCC unroll 4
    for (int32_t i = 0; i < n; i++) {
        most = (x[i] > most) ? x[i] : most;
    }
    return most;
}

void cg_qlinear_softmax_s8(const cg_qlinear_softmax_params *params, const int32_t *powers,
                           const int8_t *input, int8_t *output)
{
    const int32_t n = params->columns;
    const int32_t zero = params->out_zero;
    for (int32_t row = 0; row < params->rows; row++) {
        const int32_t at = 255 - largest(input, n);
        uint32_t sum = 0u;
#pragma GCC unroll 4
        for (int32_t i = 0; i < n; i++) {
            sum += (uint32_t)powers[at + input[i]];
        }
        const int32_t zeros = cg_leading_zeros(sum);
        const uint64_t inverse = (uint64_t)(uint32_t)params->inverse << 32;
        const uint32_t share = (uint32_t)(inverse / (sum << zeros));
        const int32_t shift = params->shift - zeros;
        const uint32_t half = 1u << (shift - 1);
#pragma GCC unroll 4
        for (int32_t i = 0; i < n; i++) {
            const uint64_t part = cg_product_u32((uint32_t)powers[at + input[i]], share);
            const uint32_t units = ((uint32_t)(part >> 32) + half) >> shift;
            const int32_t stored = (int32_t)units + zero; /* -128 or more */
            output[i] = (int8_t)((stored > 127) ? 127 : stored);
        }
        input += n;
        output += n;
    }
}
