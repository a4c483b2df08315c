/* SPDX-License-Identifier: 0BSD */
/*
 * lasting.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 *
 * sram pool, 28 bytes (lower bound 12), 1 byte a column
 *               0x000           0x010        live bytes
 *    0 lut0     CCCC....AAAA............BBBB         12
 *    1 lut1     CCCC........DDDD........BBBB         12
 *    2 concat2  CCCC........DDDDEEEEEEEEBBBB         20  <- peak
 *    3 reshape3 CCCC............EEEEEEEEBBBB         16
 *    4 mean4    CCCC....FFFF....EEEEEEEEBBBB         16
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
 * B   past               sram     0x018        4      1  0..4
 * C   lut0               sram     0x000        4      1  0..4
 * D   lut1               sram     0x00c        4      1  1..2
 * E   concat2, reshape3  sram     0x010        8      1  2..4
 * F   mean4              sram     0x008        4      1  4..4
 * *   mean4.ws           ccm      0x000       16      4  4..4
 */
#include "lasting.h"

#include <stddef.h>
#include <string.h>

#include "lasting_data.h"
#include "lasting_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL lasting_model

/* ---- constants ------------------------------------------------------------------------ */

cg_status lasting_set_constants(lasting_workspace_pools *pools, const void *image,
                                uint32_t size_bytes)
{
    static const cg_constants_expected expected = {
        .size_bytes = LASTING_CONSTANTS_SIZE,
        .alignment = 16u,
        .layout = {0x03020100u, 0x07060504u, 0x0b0a0908u, 0x0f0e0d0cu},
    };
    if (pools == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    const cg_status status = cg_check_constants(image, size_bytes, &expected);
    if (status == CG_OK) {
        pools->constants = (const struct lasting_constants_image *)image;
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

int8_t *lasting_input_x(const lasting_workspace_pools *pools)
{
    return (int8_t *)&pools->sram[0x008];
}

const int8_t *lasting_output_sum(const lasting_workspace_pools *pools)
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
static cg_status check_call(const lasting_workspace_pools *pools)
{
    if ((pools == NULL) || (pools->sram == NULL) || (pools->ccm == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((pools->sram_size_bytes < LASTING_SRAM_POOL_SIZE) ||
        (pools->ccm_size_bytes < LASTING_CCM_POOL_SIZE)) {
        return CG_ERR_POOL_SIZE;
    }
    if (((uintptr_t)pools->sram % LASTING_SRAM_POOL_ALIGNMENT != 0u) ||
        ((uintptr_t)pools->ccm % LASTING_CCM_POOL_ALIGNMENT != 0u)) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    if (pools->constants == NULL) {
        return CG_ERR_CONSTANTS_MISSING;
    }
    return CG_OK;
}

/* ---- steps ---------------------------------------------------------------------------- */

/* 0: RELU x 1x4 -> lut0 1x4; sram 0x000, 4 bytes, steps 0..4 */
static void step_0_lut0(const lasting_workspace_pools *pools)
{
    int8_t *const x = (int8_t *)&pools->sram[0x008];
    int8_t *const lut0 = (int8_t *)&pools->sram[0x000];
    CG_STEP_BEGIN(0u);
    cg_lut_s8(pools->constants->flash.lut0_table, x, lut0, 4);
    CG_STEP_END(0u);
}

/* 1: RELU past 1x4 -> lut1 1x4; sram 0x00c, 4 bytes, steps 1..2 */
static void step_1_lut1(const lasting_workspace_pools *pools)
{
    int8_t *const past = (int8_t *)&pools->sram[0x018];
    int8_t *const lut1 = (int8_t *)&pools->sram[0x00c];
    CG_STEP_BEGIN(1u);
    cg_lut_s8(pools->constants->flash.lut0_table, past, lut1, 4);
    CG_STEP_END(1u);
}

/* 2: CONCATENATION lut0 1x4 + lut1 1x4 -> concat2 1x8; sram 0x010, 8 bytes, steps 2..4 */
static void step_2_concat2(const lasting_workspace_pools *pools)
{
    int8_t *const lut0 = (int8_t *)&pools->sram[0x000];
    int8_t *const lut1 = (int8_t *)&pools->sram[0x00c];
    int8_t *const concat2 = (int8_t *)&pools->sram[0x010];
    const void *const concat2_addresses[] = {lut0, lut1};
    const cg_concat_params concat2_params = {
        .rows = 1,
        .count = 2,
        .row_bytes = pools->constants->flash.concat2_row_bytes,
    };
    CG_STEP_BEGIN(2u);
    cg_concat(&concat2_params, concat2_addresses, concat2);
    CG_STEP_END(2u);
}

/* 3: RESHAPE concat2 1x8 -> reshape3 2x4; a view, no code; sram 0x010, 8 bytes, steps 2..4 */

/* 4: MEAN reshape3 2x4 -> mean4 4; sram 0x008, 4 bytes, step 4 */
static void step_4_mean4(const lasting_workspace_pools *pools)
{
    int8_t *const reshape3 = (int8_t *)&pools->sram[0x010];
    int8_t *const mean4 = (int8_t *)&pools->sram[0x008];
    void *const mean4_ws = &pools->ccm[0x000];
    CG_STEP_BEGIN(4u);
    cg_mean_s8(&mean4_params, reshape3, mean4, mean4_ws);
    memcpy(&pools->sram[0x018], &pools->sram[0x000], 4u);
    CG_STEP_END(4u);
}

cg_status lasting_step(uint32_t step, const lasting_workspace_pools *pools)
{
    const cg_status ready = check_call(pools);
    if (ready != CG_OK) {
        return ready;
    }
    switch (step) {
    case 0u:
        step_0_lut0(pools);
        break;
    case 1u:
        step_1_lut1(pools);
        break;
    case 2u:
        step_2_concat2(pools);
        break;
    case 3u: /* no code */
        break;
    case 4u:
        step_4_mean4(pools);
        break;
    default:
        return CG_ERR_STEP;
    }
    return CG_OK;
}

/* ---- state ---------------------------------------------------------------------------- */

cg_status lasting_reset(const lasting_workspace_pools *pools)
{
    if ((pools == NULL) || (pools->sram == NULL) || (pools->ccm == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((pools->sram_size_bytes < LASTING_SRAM_POOL_SIZE) ||
        (pools->ccm_size_bytes < LASTING_CCM_POOL_SIZE)) {
        return CG_ERR_POOL_SIZE;
    }
    if (((uintptr_t)pools->sram % LASTING_SRAM_POOL_ALIGNMENT != 0u) ||
        ((uintptr_t)pools->ccm % LASTING_CCM_POOL_ALIGNMENT != 0u)) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    memset(&pools->sram[0x018], 0xfd, 4u);
    return CG_OK;
}

cg_status lasting_save(const lasting_workspace_pools *pools, void *image, uint32_t size_bytes)
{
    if ((pools == NULL) || (pools->sram == NULL) || (pools->ccm == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((pools->sram_size_bytes < LASTING_SRAM_POOL_SIZE) ||
        (pools->ccm_size_bytes < LASTING_CCM_POOL_SIZE)) {
        return CG_ERR_POOL_SIZE;
    }
    if (((uintptr_t)pools->sram % LASTING_SRAM_POOL_ALIGNMENT != 0u) ||
        ((uintptr_t)pools->ccm % LASTING_CCM_POOL_ALIGNMENT != 0u)) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    const cg_state_part parts[] = {
        {&pools->sram[0x018], 4u},
    };
    const cg_state state = {
        .parts = parts,
        .count = 1u,
        .size_bytes = LASTING_STATE_BYTES,
        .layout = {0xe9a1fa04u, 0xa5e28232u, 0x264850e3u, 0xb8ebd765u},
    };
    return cg_save_state(&state, image, size_bytes);
}

cg_status lasting_load(const lasting_workspace_pools *pools, const void *image, uint32_t size_bytes)
{
    if ((pools == NULL) || (pools->sram == NULL) || (pools->ccm == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((pools->sram_size_bytes < LASTING_SRAM_POOL_SIZE) ||
        (pools->ccm_size_bytes < LASTING_CCM_POOL_SIZE)) {
        return CG_ERR_POOL_SIZE;
    }
    if (((uintptr_t)pools->sram % LASTING_SRAM_POOL_ALIGNMENT != 0u) ||
        ((uintptr_t)pools->ccm % LASTING_CCM_POOL_ALIGNMENT != 0u)) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    const cg_state_part parts[] = {
        {&pools->sram[0x018], 4u},
    };
    const cg_state state = {
        .parts = parts,
        .count = 1u,
        .size_bytes = LASTING_STATE_BYTES,
        .layout = {0xe9a1fa04u, 0xa5e28232u, 0x264850e3u, 0xb8ebd765u},
    };
    return cg_load_state(&state, image, size_bytes);
}

/* ---- entry function ------------------------------------------------------------------- */

cg_status lasting_run(const lasting_workspace_pools *pools, const lasting_inputs *inputs,
                      const lasting_outputs *outputs)
{
    const cg_status ready = check_call(pools);
    if (ready != CG_OK) {
        return ready;
    }
    if (inputs != NULL) {
        copy_tensor(lasting_input_x(pools), inputs->x, LASTING_X_SIZE);
    }
    for (uint32_t step = 0; step < LASTING_STEPS; step++) {
        const cg_status status = lasting_step(step, pools);
        if (status != CG_OK) {
            return status;
        }
    }

    if (outputs != NULL) {
        copy_tensor(outputs->sum, lasting_output_sum(pools), LASTING_SUM_SIZE);
    }
    return CG_OK;
}

/* ---- for hooks and the linker --------------------------------------------------------- */

#ifdef CG_MODEL_HOOKS
/* clang-format off */
static const char *const lasting_step_names[] = {LASTING_STEP_NAMES};
const cg_model lasting_model = {
    .name = LASTING_NAME,
    .step_names = lasting_step_names,
    .steps = LASTING_STEPS,
};
/* clang-format on */
#endif

CG_REQUIRE(cg_runtime_of_version_000102030405);
const uint8_t lasting_header_and_library_of_build_000102030405 = 0;

/* The linker finds it twice where an image would have two builds of this name. */
extern const uint8_t lasting_ERROR_built_twice__build_one_with_option_name;
const uint8_t lasting_ERROR_built_twice__build_one_with_option_name = 0;
