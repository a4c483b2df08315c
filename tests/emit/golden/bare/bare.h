/* SPDX-License-Identifier: 0BSD */
/*
 * bare.h -- generated; do not edit.
 *
 * Model      bare.tflite (tflite)
 * sha256     00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
 * Generator  codegen 1.2.3, runtime ABI 1
 * Options    --board host
 * Planner    by_hand, not proved optimal
 *
 * Memory      none: no pools, no constants
 */
#ifndef BARE_H
#define BARE_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SIZE is in bytes; SHAPE is a list, as in `const int32_t shape[] = {..._SHAPE};`. */

/* input "x", float32, shape 4 */
#define BARE_X_SIZE     16u
#define BARE_X_ELEMENTS 4u
#define BARE_X_RANK     1u
#define BARE_X_SHAPE    4

/* output "y", float32, shape 2x2 */
#define BARE_Y_SIZE     16u
#define BARE_Y_ELEMENTS 4u
#define BARE_Y_RANK     2u
#define BARE_Y_SHAPE    2, 2

typedef struct {
    const float *x; /* BARE_X_SIZE bytes */
} bare_inputs;

typedef struct {
    float *y; /* BARE_Y_SIZE bytes */
} bare_outputs;

/*
 * Runs one inference. The caller owns the memory of inputs and outputs, each aligned for its type
 * and none overlapping another; inputs are only read.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK, or CG_ERR_NULL_POINTER
 * before anything has been written.
 */
CG_CHECK_RESULT cg_status bare_run(const bare_inputs *inputs, const bare_outputs *outputs);

/* ---- names and figures, for logs ------------------------------------------------------ */

/* MACS are multiply-accumulates of one inference. */
#define BARE_NAME      "bare"
#define BARE_GENERATOR "codegen 1.2.3"
#define BARE_MACS      0u
#define BARE_STEPS     2u

/* SHA-256 of the model's file. */
#define BARE_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in bare.c. A list, as in `static
 * const char *const names[] = {..._STEP_NAMES};`.
 */
#define BARE_STEP_NAMES "reshape0", "clamp1"

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define BARE_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- for hooks and the linker --------------------------------------------------------- */

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model bare_model;

/* Ties this header to the library of its build: the linker refuses any other. */
CG_REQUIRE(bare_header_and_library_of_build_000102030405);

#ifdef __cplusplus
}
#endif

#endif /* BARE_H */
