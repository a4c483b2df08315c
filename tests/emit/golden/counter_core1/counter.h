/* SPDX-License-Identifier: 0BSD */
/*
 * counter.h -- generated; do not edit.
 *
 * Model      counter.tflite (tflite)
 * sha256     00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
 * Generator  codegen 1.2.3, runtime ABI 1
 * Options    --board host
 * Planner    by_hand, not proved optimal
 *
 * Memory, bytes        planned   lower bound   section
 *   sram (rw)               24            12   .bss.cg.sram
 *   ccm (rw)                16             0   .bss.cg.ccm
 *   flash (ro)             264           264   .rodata.cg.flash
 */
#ifndef COUNTER_H
#define COUNTER_H

#include "cg_runtime.h"

#include "counter_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For logs; MACS are multiply-accumulates of one inference. */
#define COUNTER_NAME      "counter"
#define COUNTER_GENERATOR "codegen 1.2.3"
#define COUNTER_MACS      0u
#define COUNTER_STEPS     5u

/* Of the model's file. */
#define COUNTER_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in counter.c. A list, as in
 * `static const char *const names[] = {..._STEP_NAMES};`.
 */
#define COUNTER_STEP_NAMES "lut0", "lut1", "concat2", "reshape3", "mean4"

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model counter_model;

/* The library of this build: of another one in the same image the linker tells. */
CG_REQUIRE(counter_header_and_library_of_build_000102030405);

/* SIZE is in bytes; SHAPE is a list, as in `const int32_t shape[] = {..._SHAPE};`. */

/* input "x" (in the file "serving_default_x:0"), int8, shape 1x4, scale 0.5, zero point -3 */
#define COUNTER_X_SIZE       4u
#define COUNTER_X_ELEMENTS   4u
#define COUNTER_X_RANK       2u
#define COUNTER_X_SHAPE      1, 4
#define COUNTER_X_SCALE      0.5f
#define COUNTER_X_ZERO_POINT (-3)

/* output "sum", int8, shape 4, scale 0.5, zero point -3 */
#define COUNTER_SUM_SIZE       4u
#define COUNTER_SUM_ELEMENTS   4u
#define COUNTER_SUM_RANK       1u
#define COUNTER_SUM_SHAPE      4
#define COUNTER_SUM_SCALE      0.5f
#define COUNTER_SUM_ZERO_POINT (-3)

/* Bytes of each pool, for link-time budgets and for the run-time peak check. */
#define COUNTER_SRAM_POOL_SIZE  24u
#define COUNTER_CCM_POOL_SIZE   16u
#define COUNTER_FLASH_POOL_SIZE 264u

typedef struct {
    const int8_t *x; /* COUNTER_X_SIZE bytes */
} counter_inputs;

typedef struct {
    int8_t *sum; /* COUNTER_SUM_SIZE bytes */
} counter_outputs;

/*
 * Inputs and outputs live in the pools; these say where. An input whose bytes other tensors take
 * over during the run must be written again before the next one:
 *   x: overwritten from step 0 (lut0) on
 * Outputs stay until an input is written or the next run begins, whichever comes first.
 */
int8_t *counter_input_x(void);
const int8_t *counter_output_sum(void);

/*
 * Runs one inference. A pointer to an input is copied from before the first step, a pointer to an
 * output is copied to after the last. A NULL pointer means that the input is already in its place,
 * or that the output may stay there; NULL instead of a struct means NULL for all in it.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK.
 */
CG_CHECK_RESULT cg_status counter_run(const counter_inputs *inputs, const counter_outputs *outputs);

/* What the input stores for a real number: the nearest, halves away from zero, clamped. */
static inline int8_t counter_quantize_x(float value)
{
    return (int8_t)cg_quantize(value, COUNTER_X_SCALE, COUNTER_X_ZERO_POINT, -128, 127);
}

/* The real number that an element of the output stands for. */
static inline float counter_dequantize_sum(int8_t stored)
{
    return cg_dequantize(stored, COUNTER_SUM_SCALE, COUNTER_SUM_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif /* COUNTER_H */
