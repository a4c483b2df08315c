/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_half.h -- float16 (IEEE 754 binary16) as bits, and float32 of the same value. Included by
 * kernels only.
 */
#ifndef CG_HALF_H
#define CG_HALF_H

#include <string.h>

#include "cg_kernels.h"

static inline float cg_float_of_bits(uint32_t bits)
{
    float x = 0.0f;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Every float16 is a float32. */
static inline float cg_float_of_half(uint16_t half)
{
    const uint32_t sign = ((uint32_t)half & 0x8000u) << 16;
    const uint32_t size = (uint32_t)half & 0x7FFFu;
    if (size < 0x0400u) { /* zero, or subnormal: a multiple of 2^-24 */
        const float x = (float)size * 5.9604644775390625e-8f;
        return (sign != 0u) ? -x : x;
    }
    return cg_float_of_bits((sign | (size << 13)) + ((size < 0x7C00u) ? 0x38000000u : 0x70000000u));
}

/* Products of values and float16 weights, each widened as it is read. */
static inline float cg_dot_f32w16(float sum, const cg_f32 *x, const uint16_t *w, int32_t n)
{
    for (; n > 0; n--) {
        sum += *x++ * cg_float_of_half(*w++);
    }
    return sum;
}

/* The nearest float16, of two the even one; beyond 65519 infinity. */
static inline uint16_t cg_half_of_float(float x)
{
    uint32_t bits = 0u;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t size = bits & 0x7FFFFFFFu;
    uint32_t half = 0u;
    if (size > 0x7F800000u) {
        half = 0x7E00u; /* no number */
    } else if (size < 0x38800000u) {
        const float moved = cg_float_of_bits(size) + 0.5f; /* rounds to a multiple of 2^-24 */
        memcpy(&half, &moved, sizeof half);
        half -= 0x3F000000u;
    } else if (size < 0x47800000u) {
        half = (size - 0x38000000u + 0x0FFFu + ((size >> 13) & 1u)) >> 13;
    } else {
        half = 0x7C00u; /* infinity */
    }
    return (uint16_t)(sign | half);
}

#endif
