/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pairs_dsp.h -- MAXIMUM, MINIMUM, MUL and PRELU of two int8 tensors, DSP extension.
 *
 * Bit-equal to cg_extreme_s8, cg_mul_s8 and cg_prelu_s8, broadcasting as there, but neither
 * argument is broadcast along the innermost axis. Any alignment; four elements at a time where
 * argument, argument and result begin at multiples of 4. Elements are read, then written, in order:
 * in place of what is not broadcast.
 */
#ifndef CG_PAIRS_DSP_H
#define CG_PAIRS_DSP_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

void cg_extreme_s8_dsp(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output);
/* `count` elements, one after the other in all three: the shape plays no part. So below. */
void cg_extreme_s8_dsp_run(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                           int8_t *output, int32_t count);

/*
 * Shifts are 1 to 31 to the right, a multiplier m from 2^30 on is held as 2m - 2^32; results range
 * over all of int8. `lhs_zeros`: minus the zero point, in both halves.
 */
typedef struct {
    cg_broadcast shape;
    int32_t lhs_zeros;
    int32_t rhs_zeros;
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
} cg_mul_params_dsp;

void cg_mul_s8_dsp(const cg_mul_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
void cg_mul_s8_dsp_run(const cg_mul_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output, int32_t count);

/*
 * The slope's multiplier and shift as above. `positive`: 256 results for values from -128 on, of
 * which those from the zero point on count.
 */
typedef struct {
    cg_broadcast shape;
    int32_t in_zero;
    int32_t slope_zero;
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
    const int8_t *positive;
} cg_prelu_params_dsp;

void cg_prelu_s8_dsp(const cg_prelu_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                     int8_t *output);
void cg_prelu_s8_dsp_run(const cg_prelu_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                         int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_PAIRS_DSP_H */
