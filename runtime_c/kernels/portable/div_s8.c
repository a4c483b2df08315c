/* SPDX-License-Identifier: Apache-2.0 */
/*
 * div_s8.c -- quotient of two tensors, int8, with broadcasting, exact to TFLite's reference. A
 * quotient by 0 is the end of the range on the side of the dividend.
 */
#include "cg_pairs.h"

#include "cg_reciprocal.h"

/* a / b scaled, b not 0: 1 / b is a mantissa of 31 bits and a shift. */
static int32_t quotient(const cg_mul_params *p, int32_t a, int32_t b)
{
    const int32_t dividend = (b < 0) ? -a : a;
    const uint32_t divisor = (uint32_t)((b < 0) ? -b : b);
    const int32_t zeros = cg_leading_zeros(divisor);
    const int32_t mantissa = (int32_t)((divisor << zeros) - 0x80000000u);
    const int32_t inverse = cg_reciprocal_of_one_plus(mantissa);
    const uint32_t magnitude = (uint32_t)((dividend < 0) ? ~dividend : dividend);
    const int32_t headroom = cg_leading_zeros(magnitude) - 1;
    const int32_t unscaled = cg_high_mul((int32_t)((uint32_t)dividend << headroom), inverse);
    const int32_t shift = p->shift - (31 - zeros) - headroom;
    if (shift < -31) {
        return 0;
    }
    return cg_rounding_shift_right(cg_high_mul(unscaled, p->multiplier), -shift);
}

static void div_row(const cg_mul_params *p, const int8_t *lhs, int32_t lhs_step, const int8_t *rhs,
                    int32_t rhs_step, int8_t *output, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = *lhs - p->lhs_zero;
        const int32_t b = *rhs - p->rhs_zero;
        int32_t scaled = (a > 0) ? 256 : ((a < 0) ? -256 : 0);
        if (b != 0) {
            scaled = quotient(p, a, b);
        }
        const int32_t stored = cg_wrapping_add(scaled, p->out_zero);
        *output++ = (int8_t)cg_clamp_s32(stored, p->act_min, p->act_max);
        lhs += lhs_step;
        rhs += rhs_step;
    }
}

CG_DEFINE_BROADCAST(cg_div_s8, div_row, cg_mul_params, int8_t)
