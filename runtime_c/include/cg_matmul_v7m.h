/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_v7m.h -- BATCH_MATMUL of int8, ARMv7-M: bit-equal to cg_batch_matmul_s8.
 */
#ifndef CG_MATMUL_V7M_H
#define CG_MATMUL_V7M_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Four columns or more; factors of a row of lhs are next to each other. With s the shift to the
 * right, 2 to 24, `shift` is s - 1. Any alignment but of `workspace`, words: a word for each
 * column, then a byte for each of their factors, columns rounded up to four.
 */
void cg_batch_matmul_s8_v7m(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_MATMUL_V7M_H */
