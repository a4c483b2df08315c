/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pairs_mve.h -- MAXIMUM, MINIMUM, MUL and PRELU of two int8 tensors, and tables, Helium.
 *
 * Bit-equal to cg_extreme_s8, cg_mul_s8, cg_prelu_s8 and cg_lut_s8, broadcasting as there, but
 * neither argument is broadcast along the innermost axis. Any alignment. 16 or 4 elements are read,
 * then written, in order: in place of what is not broadcast.
 */
#ifndef CG_PAIRS_MVE_H
#define CG_PAIRS_MVE_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

void cg_lut_s8_mve(const int8_t *table, const void *input, void *output, int32_t count);

void cg_extreme_s8_mve(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output);
/* `count` elements, one after the other in all three: the shape plays no part. So below. */
void cg_extreme_s8_mve_run(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                           int8_t *output, int32_t count);

/* Shifts are 1 to 31 to the right, held negative. `lhs_offset`: minus the zero point. */
typedef struct {
    cg_broadcast shape;
    int32_t lhs_offset;
    int32_t rhs_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
    int32_t act_min;
    int32_t act_max;
} cg_mul_params_mve;

void cg_mul_s8_mve(const cg_mul_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
void cg_mul_s8_mve_run(const cg_mul_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output, int32_t count);

/*
 * The slope's multiplier and shift as above. `positive`: 256 results for values from -128 on, of
 * which those from the zero point on count.
 */
typedef struct {
    cg_broadcast shape;
    int32_t in_offset;
    int32_t slope_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
    const int8_t *positive;
} cg_prelu_params_mve;

void cg_prelu_s8_mve(const cg_prelu_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                     int8_t *output);
void cg_prelu_s8_mve_run(const cg_prelu_params_mve *params, const int8_t *lhs, const int8_t *rhs,
                         int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_PAIRS_MVE_H */
