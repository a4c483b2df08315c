/* SPDX-License-Identifier: 0BSD */
/*
 * bare.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 *
 * no buffers in pools
 */
#include "bare.h"

#include <stddef.h>

#include "bare_data.h"
#include "bare_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL bare_model

/* ---- entry function ------------------------------------------------------------------- */

cg_status bare_run(const bare_inputs *inputs, const bare_outputs *outputs)
{
    if ((inputs == NULL) || (inputs->x == NULL) || (outputs == NULL) || (outputs->y == NULL)) {
        return CG_ERR_NULL_POINTER;
    }

    /* 0: RESHAPE x 4 -> reshape0 2x2; a view, no code; at inputs->x */

    /* 1: RELU6 reshape0 2x2 -> clamp1 2x2; at outputs->y */
    const cg_f32 *const reshape0 = inputs->x;
    cg_f32 *const clamp1 = outputs->y;
    CG_STEP_BEGIN(1u);
    cg_clamp_f32(0.0f, 6.0f, reshape0, clamp1, 4);
    CG_STEP_END(1u);

    return CG_OK;
}

/* ---- for hooks and the linker --------------------------------------------------------- */

#ifdef CG_MODEL_HOOKS
/* clang-format off */
static const char *const bare_step_names[] = {BARE_STEP_NAMES};
const cg_model bare_model = {
    .name = BARE_NAME,
    .step_names = bare_step_names,
    .steps = BARE_STEPS,
};
/* clang-format on */
#endif

CG_REQUIRE(cg_runtime_of_version_000102030405);
const uint8_t bare_header_and_library_of_build_000102030405 = 0;

/* The linker finds it twice where an image would have two builds of this name. */
extern const uint8_t bare_ERROR_built_twice__build_one_with_option_name;
const uint8_t bare_ERROR_built_twice__build_one_with_option_name = 0;
