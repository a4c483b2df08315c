/* SPDX-License-Identifier: 0BSD */
/*
 * counter.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 *
 * sram pool, 24 bytes (lower bound 12), 1 byte a column
 *               0x000           0x010    live bytes
 *    0 lut0     ........BBBB............          4  B over A
 *    1 lut1     ........BBBBCCCC........          8
 *    2 concat2  ........BBBBCCCCDDDDDDDD         16  <- peak
 *    3 reshape3 ................DDDDDDDD          8
 *    4 mean4    ........EEEE....DDDDDDDD          8
 *
 * ccm pool, 16 bytes (lower bound 0), 1 byte a column
 *               0x000            live bytes
 *    0 lut0     ................          0
 *    1 lut1     ................          0
 *    2 concat2  ................          0
 *    3 reshape3 ................          0
 *    4 mean4    ****************         16  <- peak
 *
 * id  values             pool    offset    bytes  align  steps
 * A   x                  sram     0x008        4      1  0..0
 * B   lut0               sram     0x008        4      1  0..2
 * C   lut1               sram     0x00c        4      1  1..2
 * D   concat2, reshape3  sram     0x010        8      1  2..4
 * E   mean4              sram     0x008        4      1  4..4
 * *   mean4.ws           ccm      0x000       16      4  4..4
 */
#include "counter.h"

#include <stddef.h>
#include <string.h>

#include "counter_data.h"
#include "counter_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL counter_model

/* ---- constants ------------------------------------------------------------------------ */

cg_status counter_set_constants(counter_workspace_pools *pools, const void *image,
                                uint32_t size_bytes)
{
    static const cg_constants_expected expected = {
        .size_bytes = COUNTER_CONSTANTS_SIZE,
        .alignment = 16u,
        .layout = {0x03020100u, 0x07060504u, 0x0b0a0908u, 0x0f0e0d0cu},
    };
    if (pools == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    const cg_status status = cg_check_constants(image, size_bytes, &expected);
    if (status == CG_OK) {
        pools->constants = (const struct counter_constants_image *)image;
    }
    return status;
}

/* ---- layer parameters ----------------------------------------------------------------- */

static const cg_mean_params mean4_params = {
    .reduction =
        {
            .extent = {.d0 = 1, .d1 = 1, .d2 = 1, .d3 = 2, .d4 = 4},
            .out_step = {.d4 = 1},
            .out_len = 4,
            .count = 2,
        },
    .multiplier = 1073741824,
};

/* ---- inputs and outputs --------------------------------------------------------------- */

int8_t *counter_input_x(const counter_workspace_pools *pools)
{
    return (int8_t *)&pools->sram[0x008];
}

const int8_t *counter_output_sum(const counter_workspace_pools *pools)
{
    return (int8_t *)&pools->sram[0x008];
}

/* Copies a tensor, unless an address is NULL or both are the same. */
static void copy_tensor(void *to, const void *from, size_t size_bytes)
{
    if ((to != NULL) && (from != NULL) && (to != from)) {
        memcpy(to, from, size_bytes);
    }
}

/* Checks that a call has all it needs, before anything is touched. */
static cg_status check_call(const counter_workspace_pools *pools)
{
    if ((pools == NULL) || (pools->sram == NULL) || (pools->ccm == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((pools->sram_size_bytes < COUNTER_SRAM_POOL_SIZE) ||
        (pools->ccm_size_bytes < COUNTER_CCM_POOL_SIZE)) {
        return CG_ERR_POOL_SIZE;
    }
    if (((uintptr_t)pools->sram % COUNTER_SRAM_POOL_ALIGNMENT != 0u) ||
        ((uintptr_t)pools->ccm % COUNTER_CCM_POOL_ALIGNMENT != 0u)) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    if (pools->constants == NULL) {
        return CG_ERR_CONSTANTS_MISSING;
    }
    return CG_OK;
}

/* ---- entry function ------------------------------------------------------------------- */

cg_status counter_run(const counter_workspace_pools *pools, const counter_inputs *inputs,
                      const counter_outputs *outputs)
{
    const cg_status ready = check_call(pools);
    if (ready != CG_OK) {
        return ready;
    }
    if (inputs != NULL) {
        copy_tensor(counter_input_x(pools), inputs->x, COUNTER_X_SIZE);
    }
    int8_t *const x = (int8_t *)&pools->sram[0x008];

    /* 0: RELU x 1x4 -> lut0 1x4; sram 0x008, 4 bytes, steps 0..2, over x */
    int8_t *const lut0 = (int8_t *)&pools->sram[0x008];
    CG_STEP_BEGIN(0u);
    cg_lut_s8(pools->constants->flash.lut0_table, x, lut0, 4);
    CG_STEP_END(0u);

    /* 1: RELU lut0 1x4 -> lut1 1x4; sram 0x00c, 4 bytes, steps 1..2 */
    int8_t *const lut1 = (int8_t *)&pools->sram[0x00c];
    CG_STEP_BEGIN(1u);
    cg_lut_s8(pools->constants->flash.lut0_table, lut0, lut1, 4);
    CG_STEP_END(1u);

    /* 2: CONCATENATION lut0 1x4 + lut1 1x4 -> concat2 1x8; sram 0x010, 8 bytes, steps 2..4 */
    int8_t *const concat2 = (int8_t *)&pools->sram[0x010];
    const void *const concat2_addresses[] = {lut0, lut1};
    CG_STEP_BEGIN(2u);
    {
        const cg_concat_params concat2_params = {
            .rows = 1,
            .count = 2,
            .row_bytes = pools->constants->flash.concat2_row_bytes,
        };
        cg_concat(&concat2_params, concat2_addresses, concat2);
    }
    CG_STEP_END(2u);

    /* 3: RESHAPE concat2 1x8 -> reshape3 2x4; a view, no code; sram 0x010, 8 bytes, steps 2..4 */

    /* 4: MEAN reshape3 2x4 -> mean4 4; sram 0x008, 4 bytes, step 4 */
    int8_t *const reshape3 = (int8_t *)&pools->sram[0x010];
    int8_t *const mean4 = (int8_t *)&pools->sram[0x008];
    void *const mean4_ws = &pools->ccm[0x000];
    CG_STEP_BEGIN(4u);
    cg_mean_s8(&mean4_params, reshape3, mean4, mean4_ws);
    CG_STEP_END(4u);

    if (outputs != NULL) {
        copy_tensor(outputs->sum, counter_output_sum(pools), COUNTER_SUM_SIZE);
    }
    return CG_OK;
}

/* ---- for hooks and the linker --------------------------------------------------------- */

#ifdef CG_MODEL_HOOKS
/* clang-format off */
static const char *const counter_step_names[] = {COUNTER_STEP_NAMES};
const cg_model counter_model = {
    .name = COUNTER_NAME,
    .step_names = counter_step_names,
    .steps = COUNTER_STEPS,
};
/* clang-format on */
#endif

CG_REQUIRE(cg_runtime_of_version_000102030405);
const uint8_t counter_header_and_library_of_build_000102030405 = 0;

/* The linker finds it twice where an image would have two builds of this name. */
extern const uint8_t counter_ERROR_built_twice__build_one_with_option_name;
const uint8_t counter_ERROR_built_twice__build_one_with_option_name = 0;
