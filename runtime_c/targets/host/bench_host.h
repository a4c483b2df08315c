/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_host.h -- runs models of the test link inside a program of the host: called from Python
 * through a shared library, or from main.c under AddressSanitizer.
 */
#ifndef CG_BENCH_HOST_H
#define CG_BENCH_HOST_H

#include <stdint.h>

#include "cg_bench.h"

/* Bytes of nobody in front of and behind every pool; the linker leaves them. */
extern const uint32_t cg_host_guard_bytes;

/*
 * One inference of model `model`: fill all pools and guards with `paint`, write the inputs, run.
 *
 * inputs, outputs: all tensors one after another. peaks: one per pool, one past the highest byte
 * that differs from `paint`. guards_intact: 1 if no guard byte changed, else 0. trace: NULL, or
 * room for the results of all steps that have one, each copied when its step ends. Returns the
 * status of the entry function.
 */
int32_t cg_host_run(uint32_t model, uint8_t paint, const uint8_t *inputs, uint8_t *outputs,
                    uint32_t *peaks, uint8_t *guards_intact, uint8_t *trace);

/*
 * A run in parts, for sequences of inferences: paint and what comes before the first one; state
 * to zero; one input; one inference with its outputs (and a trace, or NULL); what the paint shows.
 */
void cg_host_begin(uint32_t model, uint8_t paint);
int32_t cg_host_reset(uint32_t model);
void cg_host_write(uint32_t model, uint32_t input, const uint8_t *data);
int32_t cg_host_infer(uint32_t model, uint8_t *outputs, uint8_t *trace);
void cg_host_marks(uint32_t model, uint8_t paint, uint32_t *peaks, uint8_t *guards_intact);

#endif /* CG_BENCH_HOST_H */
