/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_log_f32.h -- the natural logarithm of a float: no libm.
 */
#ifndef CG_LOG_F32_H
#define CG_LOG_F32_H

#include <stdint.h>
#include <string.h>

/* x = m 2^n with m between the roots of 1/2 and 2; log(m) is twice the series of atanh of
 * (m - 1) / (m + 1), whose first term left out is below 0.172^10 / 11 = 2e-9 of the result. */
static inline float cg_log_one_f32(float x)
{
    const float ln2_high = 0.693359375f; /* 355 / 512: n times it is exact */
    const float ln2_low = -2.12194440e-4f;
    uint32_t bits;
    int32_t n = -127;
    if (!(x > 0.0f)) {
        bits = (x == 0.0f) ? 0xFF800000u : 0x7FC00000u; /* -infinity, no number */
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    if (x > 3.402823466e+38f) {
        return x;
    }
    if (x < 1.17549435e-38f) {
        x *= 16777216.0f;
        n -= 24;
    }
    memcpy(&bits, &x, sizeof(bits));
    n += (int32_t)(bits >> 23);
    bits = (bits & 0x7FFFFFu) | 0x3F800000u;
    if (bits > 0x3FB504F3u) {
        bits -= 0x800000u;
        n++;
    }
    float m;
    memcpy(&m, &bits, sizeof(m));
    const float s = (m - 1.0f) / (m + 1.0f);
    const float s2 = s * s;
    float series = (1.0f / 7.0f) + (s2 * (1.0f / 9.0f));
    series = (1.0f / 5.0f) + (s2 * series);
    series = (1.0f / 3.0f) + (s2 * series);
    const float small = (2.0f * s) + (((2.0f * s) * s2) * series);
    return ((float)n * ln2_high) + (small + ((float)n * ln2_low));
}

#endif /* CG_LOG_F32_H */
