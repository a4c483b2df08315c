/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_softmax_fixed.h -- softmax over the last axis of int8 in fixed point, to results of 8 or 16
 * bits. Included by kernels only.
 *
 * Qm.n below: a signed number with m integer and n fractional bits. exp() is the product of a
 * polynomial on (-1/4, 0] and one constant exp(-2^k) per set bit of the rest; 1/x is three steps
 * of Newton's method. Source of the algorithm: gemmlowp fixedpoint.h, reference_ops::Softmax.
 */
#ifndef CG_SOFTMAX_FIXED_H
#define CG_SOFTMAX_FIXED_H

#include "cg_exp_fixed.h"
#include "cg_kernel_parts.h"
#include "cg_reciprocal.h"

#define SUM_INTEGER_BITS 12 /* sums of exponentials are Q12.19 */

static int32_t exp_of_difference(const cg_softmax_params *params, int32_t difference)
{
    const int32_t scaled = (int32_t)((uint32_t)difference << params->shift);
    return cg_exp_negative(cg_high_mul(scaled, params->multiplier));
}

/* A result has `bits` bits: scale 2^-bits, zero point the lowest. */
#define CG_DEFINE_SOFTMAX(name, element, bits)                                                     \
    static void softmax_row(const cg_softmax_params *params, const int8_t *input, element *output) \
    {                                                                                              \
        int32_t largest = -128;                                                                    \
        for (int32_t i = 0; i < params->depth; i++) {                                              \
            largest = (input[i] > largest) ? input[i] : largest;                                   \
        }                                                                                          \
        int32_t sum = 0;                                                                           \
        for (int32_t i = 0; i < params->depth; i++) {                                              \
            const int32_t difference = input[i] - largest;                                         \
            if (difference >= params->diff_min) {                                                  \
                sum += cg_rounding_shift_right(exp_of_difference(params, difference),              \
                                               SUM_INTEGER_BITS);                                  \
            }                                                                                      \
        }                                                                                          \
        /* The largest element adds 2^19 and there are fewer than 4096: 2^19 <= sum < 2^31. */     \
        const int32_t headroom = cg_leading_zeros((uint32_t)sum); /* 1 to 12 */                    \
        const int32_t mantissa = (int32_t)(((uint32_t)sum << headroom) - 0x80000000u);             \
        const int32_t scale = cg_reciprocal_of_one_plus(mantissa);                                 \
        const int32_t lowest = -(1 << ((bits)-1));                                                 \
        const int32_t exponent = SUM_INTEGER_BITS - headroom + 31 - (bits);                        \
        for (int32_t i = 0; i < params->depth; i++) {                                              \
            const int32_t difference = input[i] - largest;                                         \
            int32_t value = lowest;                                                                \
            if (difference >= params->diff_min) {                                                  \
                const int32_t product = cg_high_mul(scale, exp_of_difference(params, difference)); \
                /* 8 bits: sums of 2^28 and more (512 equal elements) leave less than a half. */   \
                value += (exponent > 31) ? 0 : cg_rounding_shift_right(product, exponent);         \
            }                                                                                      \
            output[i] = (element)cg_clamp_s32(value, lowest, -1 - lowest);                         \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void name(const cg_softmax_params *params, const int8_t *input, element *output)               \
    {                                                                                              \
        for (int32_t row = 0; row < params->rows; row++) {                                         \
            softmax_row(params, input, output);                                                    \
            input += params->depth;                                                                \
            output += params->depth;                                                               \
        }                                                                                          \
    }

#endif /* CG_SOFTMAX_FIXED_H */
