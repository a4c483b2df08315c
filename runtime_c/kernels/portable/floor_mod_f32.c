/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_mod_f32.c -- remainders with the sign of the divisor, float32, with broadcasting.
 */
#include "cg_pairs.h"

#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Mantissa of a number above 0 with its leading bit at 2^23; *exponent: of its last bit. */
static uint32_t mantissa_of(uint32_t bits, int32_t *exponent)
{
    uint32_t mantissa = bits & 0x7FFFFFu;
    *exponent = (int32_t)(bits >> 23);
    if (*exponent != 0) {
        return mantissa | 0x800000u;
    }
    const int32_t shift = cg_leading_zeros(mantissa) - 8;
    mantissa <<= shift;
    *exponent = 1 - shift;
    return mantissa;
}

/* The exact remainder of a / b with the sign of a, as C's fmodf: long division bit by bit. */
static float remainder_of(float a, float b)
{
    const uint32_t sign = bits_of(a) & 0x80000000u;
    const uint32_t size = bits_of(a) & 0x7FFFFFFFu;
    const uint32_t divisor_size = bits_of(b) & 0x7FFFFFFFu;
    if ((size >= 0x7F800000u) || (divisor_size > 0x7F800000u) || (divisor_size == 0u)) {
        return float_of(0x7FC00000u);
    }
    if (size < divisor_size) {
        return a;
    }
    int32_t exponent;
    int32_t last;
    uint32_t rest = mantissa_of(size, &exponent);
    const uint32_t divisor = mantissa_of(divisor_size, &last);
    for (; exponent > last; exponent--) {
        rest = (rest >= divisor) ? (rest - divisor) : rest;
        rest <<= 1;
    }
    rest = (rest >= divisor) ? (rest - divisor) : rest;
    if (rest == 0u) {
        return float_of(sign);
    }
    const int32_t shift = cg_leading_zeros(rest) - 8;
    if (shift < last) {
        return float_of(sign | ((rest << shift) & 0x7FFFFFu) | ((uint32_t)(last - shift) << 23));
    }
    return float_of(sign | ((last > 0) ? (rest << (last - 1)) : (rest >> (1 - last))));
}

static void floor_mod_row(const cg_pair_params *p, const cg_f32 *lhs, int32_t lhs_step,
                          const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)
{
    (void)p;
    for (int32_t i = 0; i < n; i++) {
        const float divisor = *rhs;
        const float rest = remainder_of(*lhs, divisor);
        const bool other_side = (rest != 0.0f) && ((divisor < 0.0f) != (rest < 0.0f));
        *output++ = other_side ? (rest + divisor) : rest;
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_floor_mod_f32, floor_mod_row, cg_pair_params, cg_f32)
