/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_dsp.h -- BATCH_MATMUL of int8, DSP extension: bit-equal to cg_batch_matmul_s8.
 */
#ifndef CG_MATMUL_DSP_H
#define CG_MATMUL_DSP_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A multiplier m from 2^30 on is held as 2m - 2^32, the shift is to the right, 1 to 31. Any
 * alignment; factors are read four at a time where rows (columns of rhs) begin at multiples of 4,
 * as many as a multiple of 4, and their factors are next to each other. With g groups of four
 * factors, `workspace`: 16 * g bytes for two rows of lhs, and for each two columns of rhs.
 */
void cg_batch_matmul_s8_dsp(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output);

/* Products bit-equal to cg_qlinear_batch_matmul_s8, with an FPU: `multiplier` has the bits of a
 * float32 scale, which is of any size; the shift counts for nothing. */
void cg_qlinear_batch_matmul_s8_dsp(const cg_matmul_params *params, const int8_t *lhs,
                                    const int8_t *rhs, void *workspace, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_MATMUL_DSP_H */
