/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_exp_f32.h -- exp() of float kernels: no libm.
 */
#ifndef CG_EXP_F32_H
#define CG_EXP_F32_H

#include <stdint.h>
#include <string.h>

/* 2^n as a float, -126 <= n <= 127. */
static inline float cg_power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/*
 * exp(x), relative error below 2e-7 (1.7 units in the last place) for -87 <= x <= 88, tested
 * against double precision in tests/kernels. Below -87 the result is 0, above 88.7 the largest
 * float; NaN stays NaN.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 is split so that n * ln2_high is exact. Taylor's series
 * of exp(r) up to r^7: the first term left out is below 0.35^8 / 8! = 6e-9.
 */
static inline float cg_exp_f32(float x)
{
    const float ln2_high = 0.693359375f; /* 355 / 512 */
    const float ln2_low = -2.12194440e-4f;
    if (!(x >= -87.0f)) {
        return (x < -87.0f) ? 0.0f : x;
    }
    if (x > 88.7f) {
        return 3.402823466e+38f;
    }
    const float turns = x * 1.44269504f;
    const int32_t n = (int32_t)(turns + ((turns < 0.0f) ? -0.5f : 0.5f));
    const float r = (x - ((float)n * ln2_high)) - ((float)n * ln2_low);
    float series = (1.0f / 720.0f) + (r * (1.0f / 5040.0f));
    series = (1.0f / 120.0f) + (r * series);
    series = (1.0f / 24.0f) + (r * series);
    series = (1.0f / 6.0f) + (r * series);
    series = 0.5f + (r * series);
    series = r + ((r * r) * series);
    /* In two factors: 2^128 is no float, though the product may be. */
    const int32_t half = n / 2;
    return ((1.0f + series) * cg_power_of_two(half)) * cg_power_of_two(n - half);
}

#endif /* CG_EXP_F32_H */
