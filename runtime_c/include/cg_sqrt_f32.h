/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_sqrt_f32.h -- the square root of a float, rounded as IEEE 754 has it: no libm.
 */
#ifndef CG_SQRT_F32_H
#define CG_SQRT_F32_H

#include <stdint.h>
#include <string.h>

/* One instruction where the core has it, else digit by digit. NaN below 0. */
static inline float cg_sqrt_one_f32(float x)
{
#if defined(__ARM_FP) && ((__ARM_FP & 4) != 0)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    if (((bits & 0x7FFFFFFFu) == 0u) || (bits == 0x7F800000u)) {
        return x;
    }
    if (bits > 0x7F800000u) {
        bits = 0x7FC00000u;
        memcpy(&x, &bits, sizeof(x));
        return x;
    }
    uint32_t mantissa = bits & 0x7FFFFFu;
    int32_t exponent = (int32_t)(bits >> 23) - 127;
    if (exponent == -127) { /* below the normal numbers */
        exponent = -126;
        while ((mantissa & 0x800000u) == 0u) {
            mantissa <<= 1;
            exponent--;
        }
    }
    mantissa |= 0x800000u;
    /* value = mantissa 2^(exponent - 23); an even exponent leaves a root of 25 digits, one too many
     * for rounding. No root of a float lies half way between two. */
    uint64_t rest = (uint64_t)mantissa << 25;
    if (((uint32_t)exponent & 1u) != 0u) {
        rest <<= 1;
        exponent--;
    }
    uint64_t root = 0u;
    for (uint64_t digit = (uint64_t)1 << 48; digit != 0u; digit >>= 2) {
        if (rest >= (root + digit)) {
            rest -= root + digit;
            root = (root >> 1) + digit;
        } else {
            root >>= 1;
        }
    }
    bits = ((uint32_t)((exponent / 2) + 126) << 23) + (uint32_t)((root + 1u) >> 1);
    memcpy(&x, &bits, sizeof(x));
    return x;
#endif
}

#endif /* CG_SQRT_F32_H */
