/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pairs_v6m.h -- MAXIMUM, MINIMUM, MUL and PRELU of two int8 tensors, ARMv6-M.
 *
 * Bit-equal to cg_extreme_s8, cg_mul_s8 and cg_prelu_s8, broadcasting as there, but neither
 * argument is broadcast along the innermost axis. Any alignment; MAXIMUM and MINIMUM take four
 * elements at a time where argument, argument and result begin at multiples of 4. Elements are
 * read, then written, in order: in place of what is not broadcast.
 */
#ifndef CG_PAIRS_V6M_H
#define CG_PAIRS_V6M_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

void cg_extreme_s8_v6m(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output);
/* `count` elements, one after the other in all three: the shape plays no part. So below. */
void cg_extreme_s8_v6m_run(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                           int8_t *output, int32_t count);

/*
 * The multiplier is high * 2^16 + low. With s the shift to the right, 0 to 16: `shift` is 15 + s,
 * `half` is 2^14, and 2^(14 + s) where s is not 0. A product is rounded from its upper 48 bits: no
 * half is met where `low` has a bit below 2^14; where `low` is 0 halves are seen. Others are left
 * out. `zero`: of the result, plus 128. Results range over all of int8.
 */
typedef struct {
    cg_broadcast shape;
    int32_t lhs_offset; /* minus the zero point */
    int32_t rhs_offset;
    int32_t high;
    int32_t low;
    int32_t half;
    int32_t shift;
    int32_t zero;
} cg_mul_params_v6m;

void cg_mul_s8_v6m(const cg_mul_params_v6m *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
void cg_mul_s8_v6m_run(const cg_mul_params_v6m *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output, int32_t count);

/*
 * PRELU: products as above, with the slope's multiplier. `positive`: 256 results for values from
 * -128 on, of which those from the zero point on count.
 */
typedef struct {
    cg_broadcast shape;
    int32_t lhs_offset; /* minus the zero point */
    int32_t rhs_offset;
    int32_t high;
    int32_t low;
    int32_t half;
    int32_t shift;
    int32_t zero;
    const int8_t *positive;
} cg_prelu_params_v6m;

void cg_prelu_s8_v6m(const cg_prelu_params_v6m *params, const int8_t *lhs, const int8_t *rhs,
                     int8_t *output);
void cg_prelu_s8_v6m_run(const cg_prelu_params_v6m *params, const int8_t *lhs, const int8_t *rhs,
                         int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_PAIRS_V6M_H */
