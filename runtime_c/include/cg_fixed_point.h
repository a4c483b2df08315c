/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_fixed_point.h -- integer arithmetic of quantised kernels, exact to TFLite's reference.
 *
 * TFLite requantizes with two roundings (gemmlowp): a doubling high multiply that rounds half up,
 * then a shift that rounds half away from zero. Both are kept as they are: one rounding would
 * differ by one in rare cases.
 */
#ifndef CG_FIXED_POINT_H
#define CG_FIXED_POINT_H

#include <stdint.h>

/* Cores without a 32x32->64 multiply; may be set from outside to test this path elsewhere. */
#ifndef CG_NO_LONG_MULTIPLY
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#define CG_NO_LONG_MULTIPLY 1
#else
#define CG_NO_LONG_MULTIPLY 0
#endif
#endif

#define CG_S32_MAX 2147483647
#define CG_S32_MIN (-CG_S32_MAX - 1)

/*
 * Right shifts of negative numbers are arithmetic and conversions to int32_t wrap in every
 * compiler that cg_runtime.h admits; sums that may wrap as TFLite's do go through these.
 */
static inline int32_t cg_wrapping_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/*
 * round(a * b / 2^31), halves up. gemmlowp's SaturatingRoundingDoublingHighMul without its one
 * saturating case a == b == INT32_MIN, which callers exclude (no multiplier is INT32_MIN).
 * Its nudge of 1 - 2^30 with a truncating division for negative products is the same rounding.
 */
static inline int32_t cg_high_mul(int32_t a, int32_t b)
{
#if CG_NO_LONG_MULTIPLY
    /* Schoolbook on 16-bit halves: four MULS. No partial sum leaves 32 bits. */
    const int32_t a_high = a >> 16;
    const int32_t b_high = b >> 16;
    const int32_t a_low = a & 0xFFFF;
    const int32_t b_low = b & 0xFFFF;
    const uint32_t low_product = (uint32_t)a_low * (uint32_t)b_low;
    const int32_t middle = (a_high * b_low) + (int32_t)(low_product >> 16);
    const int32_t cross = (a_low * b_high) + (middle & 0xFFFF);
    const uint32_t high = (uint32_t)((a_high * b_high) + (middle >> 16) + (cross >> 16));
    const uint32_t low = ((uint32_t)cross << 16) | (low_product & 0xFFFFu);
    const uint32_t rounded = low + 0x40000000u;
    const uint32_t carry = (rounded < low) ? 1u : 0u;
    return (int32_t)(((high + carry) << 1) | (rounded >> 31));
#else
    return (int32_t)((((int64_t)a * b) + (int64_t)0x40000000) >> 31);
#endif
}

/* All 64 bits of a product. */
static inline uint64_t cg_product_u32(uint32_t a, uint32_t b)
{
#if CG_NO_LONG_MULTIPLY
    const uint32_t low = (a & 0xFFFFu) * (b & 0xFFFFu);
    const uint32_t middle = ((a >> 16) * (b & 0xFFFFu)) + (low >> 16);
    const uint32_t cross = ((a & 0xFFFFu) * (b >> 16)) + (middle & 0xFFFFu);
    const uint32_t high = ((a >> 16) * (b >> 16)) + (middle >> 16) + (cross >> 16);
    return ((uint64_t)high << 32) | ((cross << 16) | (low & 0xFFFFu));
#else
    return (uint64_t)a * b;
#endif
}

static inline int64_t cg_product_s32(int32_t a, int32_t b)
{
#if CG_NO_LONG_MULTIPLY
    const uint64_t product = cg_product_u32((uint32_t)a, (uint32_t)b);
    const uint32_t wrapped = ((a < 0) ? (uint32_t)b : 0u) + ((b < 0) ? (uint32_t)a : 0u);
    return (int64_t)(product - ((uint64_t)wrapped << 32));
#else
    return (int64_t)a * b;
#endif
}

/*
 * round(x / 2^exponent), halves away from zero, 0 <= exponent <= 31 (gemmlowp's
 * RoundingDivideByPOT). x must not be INT32_MIN: cg_high_mul returns that for no multiplier there
 * is.
 */
static inline int32_t cg_rounding_shift_right(int32_t x, int32_t exponent)
{
    if (exponent == 0) {
        return x;
    }
    const int32_t nudged = x - ((x < 0) ? 1 : 0);
    return (nudged >> exponent) + ((nudged >> (exponent - 1)) & 1);
}

/*
 * TFLite's MultiplyByQuantizedMultiplier with double rounding: about
 * x * multiplier * 2^(shift - 31), -31 <= shift <= 30. x << shift wraps.
 */
static inline int32_t cg_requantize(int32_t x, int32_t multiplier, int32_t shift)
{
    if (shift > 0) {
        return cg_high_mul((int32_t)((uint32_t)x << shift), multiplier);
    }
    return cg_rounding_shift_right(cg_high_mul(x, multiplier), -shift);
}

/*
 * The power of two that a packed channel's word of shifts stands for: bits 0 to 4 count, to the
 * right, or to the left where bit 6 is set. Bits from 8 on say something else.
 */
static inline int32_t cg_power_of(uint32_t shift)
{
    const int32_t amount = (int32_t)(shift & 0x1Fu);
    return ((shift & 0x40u) != 0u) ? amount : -amount;
}

/*
 * TFLite's MultiplyByQuantizedMultiplier of 64-bit sums: round(x * multiplier / 2^shift), halves
 * up. The multiplier has 15 bits, 8 <= shift <= 46. What does not fit 64 or 32 bits wraps.
 */
static inline int32_t cg_requantize_s64(int64_t x, int32_t multiplier, int32_t shift)
{
#if CG_NO_LONG_MULTIPLY
    /* By 16-bit quarters of x: no product leaves 32 bits, and the sum is one modulo 2^64. */
    const uint32_t factor = (uint32_t)multiplier;
    const uint32_t low = (uint32_t)(uint64_t)x;
    const uint32_t high = (uint32_t)((uint64_t)x >> 32);
    const uint64_t outer = (low & 0xFFFFu) * factor + ((uint64_t)((high & 0xFFFFu) * factor) << 32);
    const uint64_t inner = (low >> 16) * factor + ((uint64_t)((high >> 16) * factor) << 32);
    const uint64_t product = outer + (inner << 16);
#else
    const uint64_t product = (uint64_t)x * (uint64_t)multiplier;
#endif
    return (int32_t)((int64_t)(product + ((uint64_t)1 << (shift - 1))) >> shift);
}

static inline int32_t cg_clamp_s32(int32_t x, int32_t low, int32_t high)
{
    const int32_t raised = (x < low) ? low : x;
    return (raised > high) ? high : raised;
}

/* Number of zero bits above the highest set bit; 32 for 0. */
static inline int32_t cg_leading_zeros(uint32_t x)
{
    return (x == 0u) ? 32 : (int32_t)__builtin_clz(x);
}

#endif /* CG_FIXED_POINT_H */
