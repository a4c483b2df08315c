/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h -- painting memory and reading back how far it was used.
 */
#ifndef CG_MEASURE_H
#define CG_MEASURE_H

#include "cg_bench.h"

typedef struct {
    uint32_t peak_bytes; /* one past the highest byte of the pool that differs from the paint */
    uint32_t intact;     /* whether no byte around the pool differs */
} cg_marks;

/* Fills the model's pools, bytes around them that belong to nobody now, and the model's stack. */
void cg_measure_paint(const cg_bench_model *model, uint8_t paint);
cg_marks cg_measure_pool(const cg_bench_model *model, const cg_bench_pool *pool, uint8_t paint);
/* Bytes of stack the last run used, from the stack pointer at the call. */
uint32_t cg_measure_stack(uint8_t paint);
/* Bytes of stack that core 1 used, those of its wait for steps included; 0 if it does not run. */
uint32_t cg_measure_core1_stack(uint8_t paint);
/* The link's own stack: painted once, at start; then how many bytes were never used. */
void cg_measure_paint_link_stack(void);
uint32_t cg_measure_link_stack(void);

/* Lets unprivileged code reach what `model` needs, and nothing else, as far as the MPU can. */
void cg_measure_protect(const cg_bench_model *model);
/*
 * Lets unprivileged code reach what `model` needs, but of the pools only the bytes that step `step`
 * touches (CG_LINK_NO_STEP: the bytes that a call copies). Returns 0, or the reason why the step is
 * refused: CG_LINK_NO_REGION, CG_LINK_INEXACT.
 */
uint32_t cg_measure_protect_step(const cg_bench_model *model, uint32_t step);

#endif /* CG_MEASURE_H */
