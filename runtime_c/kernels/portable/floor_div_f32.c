/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_div_f32.c -- quotients rounded down, float32, with broadcasting.
 */
#include "cg_pairs.h"

/* The largest whole number that is not above x; beyond 2^52 every double is whole. */
static double whole_below(double x)
{
    if (!((x > -4503599627370496.0) && (x < 4503599627370496.0))) {
        return x;
    }
    const double whole = (double)(int64_t)x;
    return (whole > x) ? (whole - 1.0) : whole;
}

static void floor_div_row(const cg_pair_params *p, const cg_f32 *lhs, int32_t lhs_step,
                          const cg_f32 *rhs, int32_t rhs_step, cg_f32 *output, int32_t n)
{
    (void)p;
    for (int32_t i = 0; i < n; i++) {
        *output++ = (float)whole_below((double)*lhs / (double)*rhs); /* as TFLite: in double */
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_floor_div_f32, floor_div_row, cg_pair_params, cg_f32)
