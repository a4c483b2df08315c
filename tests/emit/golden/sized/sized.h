/* SPDX-License-Identifier: 0BSD */
/*
 * sized.h -- generated; do not edit.
 *
 * Model      sized.tflite (tflite)
 * sha256     e2e8365b8a7d46daecc989d593d203efad4fc538195b3b66492597244b767cde
 * Generator  codegen 1.2.3, runtime ABI 1
 * Options    --board host --optimize balanced --planner optimal --dim T=10..40
 * Planner    optimal, proved optimal
 *
 * Memory, bytes        planned   lower bound   section
 *   sram (rw)              960           960   .bss.cg.sram
 *   flash (ro)             952           952   .rodata.cg.flash
 */
#ifndef SIZED_H
#define SIZED_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SIZE is in bytes; SHAPE is a list, as in `const int32_t shape[] = {..._SHAPE};`. */

/* input "x0", int8, shape 1x40x1x8, scale 0.0500000007, zero point -3 */
#define SIZED_X0_SIZE       320u
#define SIZED_X0_ELEMENTS   320u
#define SIZED_X0_RANK       4u
#define SIZED_X0_SHAPE      1, 40, 1, 8
#define SIZED_X0_SCALE      0.05f
#define SIZED_X0_ZERO_POINT (-3)

/* output "v13", int8, shape 1x20x1x4, scale 0.0500000007, zero point -3 */
#define SIZED_V13_SIZE       80u
#define SIZED_V13_ELEMENTS   80u
#define SIZED_V13_RANK       4u
#define SIZED_V13_SHAPE      1, 20, 1, 4
#define SIZED_V13_SCALE      0.05f
#define SIZED_V13_ZERO_POINT (-3)

/* Bytes of each pool, for link-time budgets and for the run-time peak check. */
#define SIZED_SRAM_POOL_SIZE  960u
#define SIZED_FLASH_POOL_SIZE 952u

/*
 * The sizes of a call. SIZE, SHAPE and ELEMENTS above, and the sizes of the pools, are those at the
 * largest ones.
 */
#define SIZED_T_MIN 10u
#define SIZED_T_MAX 40u

typedef struct {
    uint32_t T; /* axis 1 of x0: 10 to 40 */
} sized_dims;

/* Names of the pools for sized_workspace_bytes. */
#define SIZED_POOL_SRAM 0u

/*
 * Bytes of a pool that a call with these sizes takes; 0 for sizes outside their ranges, or no such
 * pool.
 */
uint32_t sized_workspace_bytes(const sized_dims *dims, uint32_t pool);

/* Extents of inputs and outputs. Returns CG_OK, CG_ERR_NULL_POINTER or CG_ERR_SIZE. */
CG_CHECK_RESULT cg_status sized_x0_shape(const sized_dims *dims, int32_t shape[SIZED_X0_RANK]);
CG_CHECK_RESULT cg_status sized_v13_shape(const sized_dims *dims, int32_t shape[SIZED_V13_RANK]);

typedef struct {
    const int8_t *x0; /* SIZED_X0_SIZE bytes */
} sized_inputs;

typedef struct {
    int8_t *v13; /* SIZED_V13_SIZE bytes */
} sized_outputs;

/*
 * Inputs and outputs live in the pools; these say where. An input whose bytes other tensors take
 * over during the run must be written again before the next one:
 *   x0: overwritten from step 0 (conv0) on
 * Outputs stay until an input is written or the next run begins, whichever comes first.
 */
int8_t *sized_input_x0(void);
const int8_t *sized_output_v13(const sized_dims *dims);

/*
 * Runs one inference. A pointer to an input is copied from before the first step, a pointer to an
 * output is copied to after the last. A NULL pointer means that the input is already in its place,
 * or that the output may stay there; NULL instead of a struct means NULL for all in it.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK, or CG_ERR_NULL_POINTER or
 * CG_ERR_SIZE before anything has been written.
 */
CG_CHECK_RESULT cg_status sized_run(const sized_inputs *inputs, const sized_outputs *outputs,
                                    const sized_dims *dims);

/* The stored number nearest to a real one: halves away from zero, clamped to the type. */
static inline int8_t sized_quantize_x0(float value)
{
    return (int8_t)cg_quantize(value, SIZED_X0_SCALE, SIZED_X0_ZERO_POINT, -128, 127);
}

/* The real number that an element of the output stands for. */
static inline float sized_dequantize_v13(int8_t stored)
{
    return cg_dequantize(stored, SIZED_V13_SCALE, SIZED_V13_ZERO_POINT);
}

/* ---- names and figures, for logs ------------------------------------------------------ */

/* MACS are multiply-accumulates of one inference. */
#define SIZED_NAME      "sized"
#define SIZED_GENERATOR "codegen 1.2.3"
#define SIZED_MACS      13440u
#define SIZED_STEPS     7u

/* SHA-256 of the model's file. */
#define SIZED_SHA256 "e2e8365b8a7d46daecc989d593d203efad4fc538195b3b66492597244b767cde"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in sized.c. A list, as in `static
 * const char *const names[] = {..._STEP_NAMES};`.
 */
#define SIZED_STEP_NAMES "conv0", "conv1", "dw2", "concat3", "conv4", "add5", "conv6"

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define SIZED_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- for hooks and the linker --------------------------------------------------------- */

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model sized_model;

/* Ties this header to the library of its build: the linker refuses any other. */
CG_REQUIRE(sized_header_and_library_of_build_000102030405);

#ifdef __cplusplus
}
#endif

#endif /* SIZED_H */
