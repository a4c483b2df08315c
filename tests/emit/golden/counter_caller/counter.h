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

#ifdef __cplusplus
extern "C" {
#endif

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
 * Runs one inference. The caller owns the memory of inputs and outputs, each aligned for its type
 * and none overlapping another; inputs are only read.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK, or CG_ERR_NULL_POINTER
 * before anything has been written.
 */
CG_CHECK_RESULT cg_status counter_run(const counter_inputs *inputs, const counter_outputs *outputs);

/* The stored number nearest to a real one: halves away from zero, clamped to the type. */
static inline int8_t counter_quantize_x(float value)
{
    return (int8_t)cg_quantize(value, COUNTER_X_SCALE, COUNTER_X_ZERO_POINT, -128, 127);
}

/* The real number that an element of the output stands for. */
static inline float counter_dequantize_sum(int8_t stored)
{
    return cg_dequantize(stored, COUNTER_SUM_SCALE, COUNTER_SUM_ZERO_POINT);
}

/* ---- names and figures, for logs ------------------------------------------------------ */

/* MACS are multiply-accumulates of one inference. */
#define COUNTER_NAME      "counter"
#define COUNTER_GENERATOR "codegen 1.2.3"
#define COUNTER_MACS      0u
#define COUNTER_STEPS     5u

/* SHA-256 of the model's file. */
#define COUNTER_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in counter.c. A list, as in
 * `static const char *const names[] = {..._STEP_NAMES};`.
 */
#define COUNTER_STEP_NAMES "lut0", "lut1", "concat2", "reshape3", "mean4"

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define COUNTER_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- for hooks and the linker --------------------------------------------------------- */

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model counter_model;

/* Ties this header to the library of its build: the linker refuses any other. */
CG_REQUIRE(counter_header_and_library_of_build_000102030405);

#ifdef __cplusplus
}
#endif

#endif /* COUNTER_H */
