/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_whole_f32.h -- whole numbers beside a float: no libm.
 */
#ifndef CG_WHOLE_F32_H
#define CG_WHOLE_F32_H

#include <stdint.h>

/* The largest whole number that is not above x; from 2^23 on every float is whole. NaN stays NaN.
 */
static inline float cg_floor_one_f32(float x)
{
    if (!((x > -8388608.0f) && (x < 8388608.0f))) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return (whole > x) ? (whole - 1.0f) : whole;
}

/* The nearest whole number, halves to even. */
static inline float cg_round_one_f32(float x)
{
    const float below = cg_floor_one_f32(x);
    const float rest = x - below;
    if (!((rest > 0.5f) || ((rest == 0.5f) && ((((int32_t)below) & 1) != 0)))) {
        return below;
    }
    return below + 1.0f;
}

#endif /* CG_WHOLE_F32_H */
