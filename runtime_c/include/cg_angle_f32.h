/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_angle_f32.h -- sin() and cos() of float kernels: no libm.
 */
#ifndef CG_ANGLE_F32_H
#define CG_ANGLE_F32_H

#include <stdint.h>
#include <string.h>

/*
 * sin(x + quarters pi / 2): absolute error below 2e-7 for |x| up to a million; NaN beyond 2^30.
 *
 * x = n pi / 2 + r with |r| <= pi / 4, in double, so that nothing is lost of r; then Taylor's
 * series, whose first terms left out are below 0.79^11 / 11! = 2e-9 and 0.79^10 / 10! = 3e-8.
 */
static inline float cg_sine_f32(float x, int32_t quarters)
{
    if (!((x > -1073741824.0f) && (x < 1073741824.0f))) {
        const uint32_t bits = 0x7FC00000u;
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    const double turns = (double)x * 0.63661977236758134;
    const int32_t n = (int32_t)(turns + ((turns < 0.0) ? -0.5 : 0.5));
    const float r = (float)(((double)x - ((double)n * 1.5707963267948966)) -
                            ((double)n * 6.123233995736766e-17));
    const float r2 = r * r;
    const uint32_t turn = (uint32_t)n + (uint32_t)quarters;
    float found;
    if ((turn & 1u) == 0u) {
        found = (-1.0f / 5040.0f) + (r2 * (1.0f / 362880.0f));
        found = (1.0f / 120.0f) + (r2 * found);
        found = (-1.0f / 6.0f) + (r2 * found);
        found = r + ((r * r2) * found);
    } else {
        found = (-1.0f / 720.0f) + (r2 * (1.0f / 40320.0f));
        found = (1.0f / 24.0f) + (r2 * found);
        found = 1.0f + (r2 * (-0.5f + (r2 * found)));
    }
    return ((turn & 2u) == 0u) ? found : -found;
}

#endif /* CG_ANGLE_F32_H */
