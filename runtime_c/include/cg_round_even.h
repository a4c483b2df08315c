/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_round_even.h -- rounding as ONNX has it: float32, halves to even. Exact on every core, whose
 * floats are IEEE 754's in its default rounding mode.
 */
#ifndef CG_ROUND_EVEN_H
#define CG_ROUND_EVEN_H

#include "cg_kernel_parts.h"

#include <string.h>

#if defined(__ARM_FP) && ((__ARM_FP & 4) != 0) && !defined(__SOFTFP__)
#define CG_HAS_VCVTR 1
#else
#define CG_HAS_VCVTR 0
#endif

/* A float that is rounded to its 32 bits here: no compiler joins a product and a sum across it. */
static inline float cg_rounded_f32(float x)
{
#if CG_HAS_VCVTR
    __asm__("" : "+t"(x));
#else
    __asm__("" : "+r"(x));
#endif
    return x;
}

/* Nearest integer, halves to even; some +-2^20 beyond that, far outside int8; -2^20 for NaN. */
static inline int32_t cg_round_even(float x)
{
    const int32_t limit = 1 << 20;
#if CG_HAS_VCVTR
    int32_t whole;
    if (x != x) {
        return -limit;
    }
    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(whole) : "t"(x));
    __asm__("ssat %0, #21, %1" : "=r"(whole) : "r"(whole) : "cc");
    return whole;
#else
    if (!(x > (float)-limit)) {
        return -limit;
    }
    if (x > (float)limit) {
        return limit;
    }
    const int32_t whole = (int32_t)x; /* towards zero */
    const float rest = x - (float)whole;
    const int32_t is_odd = whole & 1;
    const int32_t up = ((rest > 0.5f) || ((rest == 0.5f) && (is_odd != 0))) ? 1 : 0;
    const int32_t down = ((rest < -0.5f) || ((rest == -0.5f) && (is_odd != 0))) ? 1 : 0;
    return whole + up - down;
#endif
}

/* The upper 32 bits of x * multiplier, rounded down. */
static inline int32_t cg_upper_product(int32_t x, int32_t multiplier)
{
#if CG_NO_LONG_MULTIPLY
    /* The product from halves, as cg_high_mul makes it. */
    const int32_t x_low = x & 0xFFFF;
    const int32_t m_low = multiplier & 0xFFFF;
    const int32_t x_high = x >> 16;
    const int32_t m_high = multiplier >> 16;
    const uint32_t low_product = (uint32_t)x_low * (uint32_t)m_low;
    const int32_t middle = (x_high * m_low) + (int32_t)(low_product >> 16);
    const int32_t cross = (x_low * m_high) + (middle & 0xFFFF);
    return (x_high * m_high) + (middle >> 16) + (cross >> 16);
#else
    return (int32_t)(((int64_t)x * multiplier) >> 32);
#endif
}

/*
 * rint(float32(x) * scale). shift > 0: a fixed point that was proved equal for this channel,
 * (hi32(x * multiplier) + 2^(shift - 1)) >> shift. shift 0: `multiplier` holds the bits of scale.
 */
static inline int32_t cg_scale_even(int32_t x, int32_t multiplier, int32_t shift)
{
    if (shift == 0) {
        float scale;
        memcpy(&scale, &multiplier, sizeof(scale));
        return cg_round_even((float)x * scale);
    }
    return (cg_upper_product(x, multiplier) + (1 << (shift - 1))) >> shift;
}

static inline int8_t cg_store_even_s8(int32_t sum, int32_t multiplier, int32_t shift, int32_t zero,
                                      int32_t act_min, int32_t act_max)
{
    return (int8_t)cg_clamp_s32(cg_scale_even(sum, multiplier, shift) + zero, act_min, act_max);
}

#endif /* CG_ROUND_EVEN_H */
