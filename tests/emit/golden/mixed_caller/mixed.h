/* SPDX-License-Identifier: 0BSD */
/*
 * mixed.h -- generated; do not edit.
 *
 * Model      mixed.tflite (tflite)
 * sha256     00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
 * Generator  codegen 1.2.3, runtime ABI 1
 * Options    --board host
 * Planner    by_hand, not proved optimal
 *
 * Memory, bytes        planned   lower bound   section
 *   sram (rw)               60            12   .bss.cg.sram
 *   flash (ro)               4             4   .rodata.cg.flash
 */
#ifndef MIXED_H
#define MIXED_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SIZE is in bytes; SHAPE is a list, as in `const int32_t shape[] = {..._SHAPE};`. */

/* input "double_" (in the file "evil * / name / * / ?"), float32, shape 2x3 */
#define MIXED_DOUBLE_SIZE     24u
#define MIXED_DOUBLE_ELEMENTS 6u
#define MIXED_DOUBLE_RANK     2u
#define MIXED_DOUBLE_SHAPE    2, 3

/* input "int8_t_", float32, shape 3 */
#define MIXED_INT8_T_SIZE     12u
#define MIXED_INT8_T_ELEMENTS 3u
#define MIXED_INT8_T_RANK     1u
#define MIXED_INT8_T_SHAPE    3

/* output "class_", float32, shape 2x3 */
#define MIXED_CLASS_SIZE     24u
#define MIXED_CLASS_ELEMENTS 6u
#define MIXED_CLASS_RANK     2u
#define MIXED_CLASS_SHAPE    2, 3

/* output "double_", int8, shape 2x3, scale 0.5, zero point -3 */
#define MIXED_OUTPUT_DOUBLE_SIZE       6u
#define MIXED_OUTPUT_DOUBLE_ELEMENTS   6u
#define MIXED_OUTPUT_DOUBLE_RANK       2u
#define MIXED_OUTPUT_DOUBLE_SHAPE      2, 3
#define MIXED_OUTPUT_DOUBLE_SCALE      0.5f
#define MIXED_OUTPUT_DOUBLE_ZERO_POINT (-3)

/* Bytes of each pool, for link-time budgets and for the run-time peak check. */
#define MIXED_SRAM_POOL_SIZE  60u
#define MIXED_FLASH_POOL_SIZE 4u

typedef struct {
    const float *double_; /* MIXED_DOUBLE_SIZE bytes */
    const float *int8_t_; /* MIXED_INT8_T_SIZE bytes */
} mixed_inputs;

typedef struct {
    float *class_;   /* MIXED_CLASS_SIZE bytes */
    int8_t *double_; /* MIXED_OUTPUT_DOUBLE_SIZE bytes */
} mixed_outputs;

/*
 * Runs one inference. The caller owns the memory of inputs and outputs, each aligned for its type
 * and none overlapping another; inputs are only read.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK, or CG_ERR_NULL_POINTER
 * before anything has been written.
 */
CG_CHECK_RESULT cg_status mixed_run(const mixed_inputs *inputs, const mixed_outputs *outputs);

/* The real number that an element of the output stands for. */
static inline float mixed_dequantize_output_double(int8_t stored)
{
    return cg_dequantize(stored, MIXED_OUTPUT_DOUBLE_SCALE, MIXED_OUTPUT_DOUBLE_ZERO_POINT);
}

/* ---- names and figures, for logs ------------------------------------------------------ */

/* MACS are multiply-accumulates of one inference. */
#define MIXED_NAME      "mixed"
#define MIXED_GENERATOR "codegen 1.2.3"
#define MIXED_MACS      0u
#define MIXED_STEPS     4u

/* SHA-256 of the model's file. */
#define MIXED_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in mixed.c. A list, as in `static
 * const char *const names[] = {..._STEP_NAMES};`.
 */
#define MIXED_STEP_NAMES "add0", "clamp1", "scale2", "quantize3"

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define MIXED_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- for hooks and the linker --------------------------------------------------------- */

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model mixed_model;

/* Ties this header to the library of its build: the linker refuses any other. */
CG_REQUIRE(mixed_header_and_library_of_build_000102030405);

#ifdef __cplusplus
}
#endif

#endif /* MIXED_H */
