/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_angle_f32.h -- sin() and cos() of float kernels: no libm.
 */
#ifndef CG_ANGLE_F32_H
#define CG_ANGLE_F32_H

#include <stdint.h>
#include <string.h>

#include "cg_fixed_point.h"

/*
 * sin(x + quarters pi / 2): absolute error below 2e-7 for every finite x; NaN for the others.
 *
 * x = n pi / 2 + r with |r| <= pi / 4; then Taylor's series, whose first terms left out are below
 * 0.79^11 / 11! = 2e-9 and 0.79^10 / 10! = 3e-8.
 *
 * Beyond pi / 4 n and r are the whole and the broken part of x times 2 / pi. Of that constant's
 * bits the mantissa of x needs 96: those before are multiples of 4 quarters, those behind are below
 * r's last place. The table holds 2 / pi behind 32 bits of 0.
 */
static inline float cg_sine_f32(float x, int32_t quarters)
{
    static const uint32_t two_by_pi[8] = {0x00000000u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u,
                                          0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu};
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const uint32_t size = bits & 0x7FFFFFFFu;
    if (size >= 0x7F800000u) {
        bits = 0x7FC00000u;
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    uint32_t turn = (uint32_t)quarters;
    float r = x;
    if (size > 0x3F490FDAu) {
        const uint32_t begin = (size >> 23) - 120u;
        const uint32_t *const words = &two_by_pi[begin >> 5];
        const uint32_t shift = begin & 31u;
        const uint32_t mantissa = (size & 0x007FFFFFu) | 0x00800000u;
        uint32_t part[3];
        for (int32_t i = 0; i < 3; i++) {
            const uint64_t pair = ((uint64_t)words[i] << 32) | words[i + 1];
            part[i] = (uint32_t)((pair << shift) >> 32);
        }
        const uint64_t product = ((uint64_t)(mantissa * part[0]) << 32) +
                                 cg_product_u32(mantissa, part[1]) +
                                 (cg_product_u32(mantissa, part[2]) >> 32);
        const uint32_t n = (uint32_t)((product + (UINT64_C(1) << 61)) >> 62);
        const int64_t rest = (int64_t)(product - ((uint64_t)n << 62));
        const int is_negative = (bits >> 31) != 0u;
        /* pi / 2 / 2^62 */
        r = (float)((double)rest * 3.4061215800865545e-19);
        r = is_negative ? -r : r;
        turn += is_negative ? (0u - n) : n;
    }
    const float r2 = r * r;
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
