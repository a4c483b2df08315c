/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_v6m.h -- BATCH_MATMUL of int8, ARMv6-M: bit-equal to cg_batch_matmul_s8.
 */
#ifndef CG_MATMUL_V6M_H
#define CG_MATMUL_V6M_H

#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Four columns or more; factors of a row of lhs are next to each other. Any alignment but of
 * `workspace`, words: for each four columns, of which the last may be some of those before, four
 * and one for each of their factors.
 */
void cg_batch_matmul_s8_v6m(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_MATMUL_V6M_H */
