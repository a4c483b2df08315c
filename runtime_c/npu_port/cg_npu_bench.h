/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_npu_bench.h -- memory of the functional model in test firmware.
 */
#ifndef CG_NPU_BENCH_H
#define CG_NPU_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Weights of one command, as many as the largest of the models' has. */
extern int16_t cg_npu_weights[];
extern const size_t cg_npu_weight_capacity;

#endif /* CG_NPU_BENCH_H */
