/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_softmax_s8.c -- LOG_SOFTMAX over the last axis, int8, bit-equal to TFLite's.
 */
#include "cg_exp_fixed.h"
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"
#include "cg_reciprocal.h"

#define ROOT        1518500250 /* of 1/2, Q0.31 */
#define FOURTH_ROOT 1805811301
#define LOG_2       1488522236

/* log(x) for x >= 1 in Q12.19, result Q5.26: x is r 2^n with r near the fourth root of 1/2, log(r)
 * a quotient of polynomials. */
static int32_t log_from_one(int32_t x)
{
    const int32_t quarter = 1 << 23; /* Q6.25 */
    const int32_t zeros = cg_leading_zeros((uint32_t)x);
    const int32_t beside = cg_leading_zeros((uint32_t)cg_high_mul(x, ROOT)) - 1;
    const int32_t near = (int32_t)((uint32_t)x << (zeros - 1));
    const int32_t first = cg_shift_left_saturating(cg_high_mul(near, ROOT), 1);
    const int32_t second = cg_shift_left_saturating(x, beside);
    const int32_t first_power = ((12 - zeros) * (1 << 25)) + quarter;
    const int32_t second_power = ((12 - beside) * (1 << 25)) - quarter;
    const int32_t r = (first < second) ? first : second;
    const int32_t power = (first_power > second_power) ? first_power : second_power;
    const int32_t half_sum = (int32_t)(((uint32_t)r + (uint32_t)FOURTH_ROOT + 1u) >> 1);
    const int32_t q = 2 * (r - FOURTH_ROOT);
    const int32_t square = cg_high_mul(q, q);
    const int32_t top = cg_high_mul(q, r) + cg_high_mul(cg_high_mul(q, square), 117049297);
    const int32_t inner = 1057819769 + q + cg_high_mul(127690142, square);
    const int32_t below = cg_high_mul(half_sum, inner) + cg_high_mul(638450708, q);
    const int32_t fraction =
        cg_high_mul(cg_rounding_shift_right(top, 6), cg_reciprocal_of_one_plus(below));
    return cg_shift_left_saturating(cg_high_mul(power, LOG_2) + fraction, 1);
}

static void log_softmax_row(const cg_log_softmax_params *p, const int8_t *input, int8_t *output)
{
    int32_t largest = -128;
    for (int32_t i = 0; i < p->depth; i++) {
        largest = (input[i] > largest) ? input[i] : largest;
    }
    uint32_t sum = 0u;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t difference = input[i] - largest;
        if (difference >= p->diff_min) {
            const int32_t scaled = cg_requantize(difference, p->multiplier, p->shift);
            sum += (uint32_t)cg_rounding_shift_right(cg_exp_negative(scaled), 12);
        }
    }
    const int32_t logarithm = log_from_one((int32_t)sum);
    /* Smaller differences than this are beyond Q5.26. */
    const int32_t reach =
        cg_requantize(logarithm + CG_S32_MIN, p->reverse_multiplier, p->reverse_shift);
    const int32_t least = (reach > p->diff_min - 1) ? reach : (p->diff_min - 1);
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t difference = input[i] - largest;
        int32_t value = -128;
        if (difference > least) {
            const int32_t scaled = cg_requantize(difference, p->multiplier, p->shift);
            value = cg_rounding_shift_right(scaled - logarithm, 22) + 127;
        }
        output[i] = (int8_t)cg_clamp_s32(value, -128, 127);
    }
}

void cg_log_softmax_s8(const cg_log_softmax_params *params, const int8_t *input, int8_t *output)
{
    for (int32_t row = 0; row < params->rows; row++) {
        log_softmax_row(params, input, output);
        input += params->depth;
        output += params->depth;
    }
}
