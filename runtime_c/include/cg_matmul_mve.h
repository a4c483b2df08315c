/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_mve.h -- BATCH_MATMUL of int8, Helium: bit-equal to cg_batch_matmul_s8.
 */
#ifndef CG_MATMUL_MVE_H
#define CG_MATMUL_MVE_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Four columns or more. The shift is 1 to 31 to the right, held negative. Where factors of a row of
 * lhs, or of a column of rhs, are not next to each other, they are at most 9,000 apart. Any
 * alignment but of `workspace`, words: a word for each column; where columns are not contiguous all
 * of them, a byte a factor; where rows are not, two of them.
 */
void cg_batch_matmul_s8_mve(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output);

/* Products bit-equal to cg_qlinear_batch_matmul_s8, with float Helium: `multiplier` has the bits
 * of a float32 scale, which is of any size; the shift counts for nothing. */
void cg_qlinear_batch_matmul_s8_mve(const cg_matmul_params *params, const int8_t *lhs,
                                    const int8_t *rhs, void *workspace, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_MATMUL_MVE_H */
