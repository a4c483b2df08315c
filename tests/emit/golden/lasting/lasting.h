/* SPDX-License-Identifier: 0BSD */
/*
 * lasting.h -- generated; do not edit.
 *
 * Model      lasting.tflite (tflite)
 * sha256     00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
 * Generator  codegen 1.2.3, runtime ABI 1
 * Options    --board host
 * Planner    by_hand, not proved optimal
 *
 * Memory, bytes        planned   lower bound   section
 *   sram (rw)               28            12   .bss.cg.sram
 *   ccm (rw)                16             0   .bss.cg.ccm
 *   flash (ro)             264           264   .rodata.cg.flash
 */
#ifndef LASTING_H
#define LASTING_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SIZE is in bytes; SHAPE is a list, as in `const int32_t shape[] = {..._SHAPE};`. */

/* input "x" (in the file "serving_default_x:0"), int8, shape 1x4, scale 0.5, zero point -3 */
#define LASTING_X_SIZE       4u
#define LASTING_X_ELEMENTS   4u
#define LASTING_X_RANK       2u
#define LASTING_X_SHAPE      1, 4
#define LASTING_X_SCALE      0.5f
#define LASTING_X_ZERO_POINT (-3)

/* output "sum", int8, shape 4, scale 0.5, zero point -3 */
#define LASTING_SUM_SIZE       4u
#define LASTING_SUM_ELEMENTS   4u
#define LASTING_SUM_RANK       1u
#define LASTING_SUM_SHAPE      4
#define LASTING_SUM_SCALE      0.5f
#define LASTING_SUM_ZERO_POINT (-3)

/* Bytes of each pool, for link-time budgets and for the run-time peak check. */
#define LASTING_SRAM_POOL_SIZE  28u
#define LASTING_CCM_POOL_SIZE   16u
#define LASTING_FLASH_POOL_SIZE 264u

typedef struct {
    const int8_t *x; /* LASTING_X_SIZE bytes */
} lasting_inputs;

typedef struct {
    int8_t *sum; /* LASTING_SUM_SIZE bytes */
} lasting_outputs;

/*
 * Inputs and outputs live in the pools; these say where. An input whose bytes other tensors take
 * over during the run must be written again before the next one:
 *   x: overwritten from step 4 (mean4) on
 * Outputs stay until an input is written or the next run begins, whichever comes first.
 */
int8_t *lasting_input_x(void);
const int8_t *lasting_output_sum(void);

/*
 * Sets the state to zero. Call it before the first inference, and whenever a new sequence begins:
 * lasting_run takes every state as the inference before left it. Nothing else may write to its
 * bytes, not even between inferences.
 *   output "next" is input "past_in" of the next inference: 4 bytes
 */
void lasting_reset(void);

/* Bytes of saved state. */
#define LASTING_STATE_BYTES 32u

/*
 * Writes the state between two inferences to `image`, LASTING_STATE_BYTES bytes outside the pools,
 * and puts it back: through sleep, a reset, or an update of firmware with the same model. What is
 * put back is looked at first.
 *
 * Both return CG_OK, CG_ERR_NULL_POINTER or CG_ERR_STATE_SIZE, lasting_load also
 * CG_ERR_STATE_FORMAT, CG_ERR_STATE_LAYOUT (another model's) or CG_ERR_STATE_CONTENT (damaged).
 * Then nothing has been written.
 */
CG_CHECK_RESULT cg_status lasting_save(void *image, uint32_t size_bytes);
CG_CHECK_RESULT cg_status lasting_load(const void *image, uint32_t size_bytes);

/*
 * Runs one inference. A pointer to an input is copied from before the first step, a pointer to an
 * output is copied to after the last. A NULL pointer means that the input is already in its place,
 * or that the output may stay there; NULL instead of a struct means NULL for all in it.
 *
 * Not re-entrant: all calls share the static pools above. Returns CG_OK.
 */
CG_CHECK_RESULT cg_status lasting_run(const lasting_inputs *inputs, const lasting_outputs *outputs);

/* The stored number nearest to a real one: halves away from zero, clamped to the type. */
static inline int8_t lasting_quantize_x(float value)
{
    return (int8_t)cg_quantize(value, LASTING_X_SCALE, LASTING_X_ZERO_POINT, -128, 127);
}

/* The real number that an element of the output stands for. */
static inline float lasting_dequantize_sum(int8_t stored)
{
    return cg_dequantize(stored, LASTING_SUM_SCALE, LASTING_SUM_ZERO_POINT);
}

/* ---- names and figures, for logs ------------------------------------------------------ */

/* MACS are multiply-accumulates of one inference. */
#define LASTING_NAME      "lasting"
#define LASTING_GENERATOR "codegen 1.2.3"
#define LASTING_MACS      0u
#define LASTING_STEPS     5u

/* SHA-256 of the model's file. */
#define LASTING_SHA256 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/*
 * Names of the steps, numbered from 0: the rows of the memory map in lasting.c. A list, as in
 * `static const char *const names[] = {..._STEP_NAMES};`.
 */
#define LASTING_STEP_NAMES "lut0", "lut1", "concat2", "reshape3", "mean4"

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define LASTING_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- for hooks and the linker --------------------------------------------------------- */

/* This model, as hooks are told of it: defined where its source is compiled with CG_MODEL_HOOKS. */
extern const cg_model lasting_model;

/* Ties this header to the library of its build: the linker refuses any other. */
CG_REQUIRE(lasting_header_and_library_of_build_000102030405);

#ifdef __cplusplus
}
#endif

#endif /* LASTING_H */
