/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_s8.c -- softmax over the last axis, int8, bit-equal to TFLite's fixed-point reference.
 *
 * Qm.n below: a signed number with m integer and n fractional bits. exp() is the product of a
 * polynomial on (-1/4, 0] and one constant exp(-2^k) per set bit of the rest; 1/x is three steps
 * of Newton's method. Source of the algorithm: gemmlowp fixedpoint.h, reference_ops::Softmax.
 */
#include "cg_exp_fixed.h"
#include "cg_kernel_parts.h"
#include "cg_reciprocal.h"

#define SUM_INTEGER_BITS 12 /* sums of exponentials are Q12.19 */

static int32_t exp_of_difference(const cg_softmax_params *params, int32_t difference)
{
    const int32_t scaled = (int32_t)((uint32_t)difference << params->shift);
    return cg_exp_negative(cg_high_mul(scaled, params->multiplier));
}

static void softmax_row(const cg_softmax_params *params, const int8_t *input, int8_t *output)
{
    int32_t largest = -128;
    for (int32_t i = 0; i < params->depth; i++) {
        largest = (input[i] > largest) ? input[i] : largest;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < params->depth; i++) {
        const int32_t difference = input[i] - largest;
        if (difference >= params->diff_min) {
            sum += cg_rounding_shift_right(exp_of_difference(params, difference), SUM_INTEGER_BITS);
        }
    }
    /* The largest element adds 2^19 and there are fewer than 4096: 2^19 <= sum < 2^31. */
    const int32_t headroom = cg_leading_zeros((uint32_t)sum); /* 1 to 12 */
    const int32_t mantissa = (int32_t)(((uint32_t)sum << headroom) - 0x80000000u);
    const int32_t scale = cg_reciprocal_of_one_plus(mantissa);
    const int32_t exponent = SUM_INTEGER_BITS - headroom + 31 - 8;
    for (int32_t i = 0; i < params->depth; i++) {
        const int32_t difference = input[i] - largest;
        int32_t value = -128;
        if (difference >= params->diff_min) {
            const int32_t product = cg_high_mul(scale, exp_of_difference(params, difference));
            /* Sums of 2^28 and more (512 equal elements) leave less than a half: exponent > 31. */
            value += (headroom < 4) ? 0 : cg_rounding_shift_right(product, exponent);
        }
        output[i] = (int8_t)cg_clamp_s32(value, -128, 127);
    }
}

void cg_softmax_s8(const cg_softmax_params *params, const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        softmax_row(params, input, output);
        input += params->depth;
        output += params->depth;
    }
}
