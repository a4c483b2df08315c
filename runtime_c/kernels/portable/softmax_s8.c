/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_s8.c -- softmax over the last axis, int8, bit-equal to TFLite's fixed-point reference.
 *
 * Qm.n below: a signed number with m integer and n fractional bits. exp() is the product of a
 * polynomial on (-1/4, 0] and one constant exp(-2^k) per set bit of the rest; 1/x is three steps
 * of Newton's method. Source of the algorithm: gemmlowp fixedpoint.h, reference_ops::Softmax.
 */
#include "cg_kernel_parts.h"
#include "cg_reciprocal.h"

#define INPUT_FRACTION_BITS 26 /* differences are Q5.26 */
#define SUM_INTEGER_BITS    12 /* sums of exponentials are Q12.19 */

/* exp(a) for a in [-1/4, 0), Q0.31: Taylor's series around -1/8. */
static int32_t exp_quarter(int32_t a)
{
    const int32_t exp_minus_eighth = 1895147668;
    const int32_t third = 715827883;
    const int32_t x = a + (1 << 28);
    const int32_t x2 = cg_high_mul(x, x);
    const int32_t x3 = cg_high_mul(x2, x);
    const int32_t x4_over_4 = cg_rounding_shift_right(cg_high_mul(x2, x2), 2);
    const int32_t tail = cg_rounding_shift_right(cg_high_mul(x4_over_4 + x3, third) + x2, 1);
    return exp_minus_eighth + cg_high_mul(exp_minus_eighth, x + tail);
}

/* exp(a) for a <= 0 in Q5.26, result Q0.31. */
static int32_t exp_negative(int32_t a)
{
    /* exp(-1/4), exp(-1/2), exp(-1), ... exp(-16) in Q0.31 */
    static const int32_t factors[7] = {
        1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242,
    };
    const int32_t quarter = 1 << (INPUT_FRACTION_BITS - 2);
    if (a == 0) {
        return CG_S32_MAX;
    }
    const int32_t part = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
    const int32_t rest = part - a;                      /* a multiple of 1/4 */
    int32_t result = exp_quarter((int32_t)((uint32_t)part << 5));
    for (int32_t bit = 0; bit < 7; bit++) {
        if ((rest & (quarter << bit)) != 0) {
            result = cg_high_mul(result, factors[bit]);
        }
    }
    return result;
}

static int32_t exp_of_difference(const cg_softmax_params *params, int32_t difference)
{
    const int32_t scaled = (int32_t)((uint32_t)difference << params->shift);
    return exp_negative(cg_high_mul(scaled, params->multiplier));
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
