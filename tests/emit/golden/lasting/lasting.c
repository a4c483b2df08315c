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

/* ---- pools ---------------------------------------------------------------------------- */

uint8_t lasting_sram_pool[LASTING_SRAM_POOL_SIZE] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);
uint8_t lasting_ccm_pool[LASTING_CCM_POOL_SIZE] CG_SECTION(".bss.cg.ccm") CG_ALIGNED(16);

/* ---- layer parameters ----------------------------------------------------------------- */

static const cg_concat_params concat2_params = {
    .rows = 1,
    .count = 2,
    .row_bytes = lasting_flash_pool.concat2_row_bytes,
};

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

int8_t *lasting_input_x(void)
{
    return (int8_t *)&lasting_sram_pool[0x008];
}

const int8_t *lasting_output_sum(void)
{
    return (int8_t *)&lasting_sram_pool[0x008];
}

/* Copies a tensor, unless an address is NULL or both are the same. */
static void copy_tensor(void *to, const void *from, size_t size_bytes)
{
    if ((to != NULL) && (from != NULL) && (to != from)) {
        memcpy(to, from, size_bytes);
    }
}

/* ---- state ---------------------------------------------------------------------------- */

void lasting_reset(void)
{
    memset(&lasting_sram_pool[0x018], 0xfd, 4u);
}

cg_status lasting_save(void *image, uint32_t size_bytes)
{
    static const cg_state_part parts[] = {
        {&lasting_sram_pool[0x018], 4u},
    };
    const cg_state state = {
        .parts = parts,
        .count = 1u,
        .size_bytes = LASTING_STATE_BYTES,
        .layout = {0xe9a1fa04u, 0xa5e28232u, 0x264850e3u, 0xb8ebd765u},
    };
    return cg_save_state(&state, image, size_bytes);
}

cg_status lasting_load(const void *image, uint32_t size_bytes)
{
    static const cg_state_part parts[] = {
        {&lasting_sram_pool[0x018], 4u},
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

cg_status lasting_run(const lasting_inputs *inputs, const lasting_outputs *outputs)
{
    if (inputs != NULL) {
        copy_tensor(lasting_input_x(), inputs->x, LASTING_X_SIZE);
    }
    int8_t *const x = (int8_t *)&lasting_sram_pool[0x008];
    int8_t *const past = (int8_t *)&lasting_sram_pool[0x018];

    /* 0: RELU x 1x4 -> lut0 1x4; sram 0x000, 4 bytes, steps 0..4 */
    int8_t *const lut0 = (int8_t *)&lasting_sram_pool[0x000];
    CG_STEP_BEGIN(0u);
    cg_lut_s8(lasting_flash_pool.lut0_table, x, lut0, 4);
    CG_STEP_END(0u);

    /* 1: RELU past 1x4 -> lut1 1x4; sram 0x00c, 4 bytes, steps 1..2 */
    int8_t *const lut1 = (int8_t *)&lasting_sram_pool[0x00c];
    CG_STEP_BEGIN(1u);
    cg_lut_s8(lasting_flash_pool.lut0_table, past, lut1, 4);
    CG_STEP_END(1u);

    /* 2: CONCATENATION lut0 1x4 + lut1 1x4 -> concat2 1x8; sram 0x010, 8 bytes, steps 2..4 */
    int8_t *const concat2 = (int8_t *)&lasting_sram_pool[0x010];
    const void *const concat2_addresses[] = {lut0, lut1};
    CG_STEP_BEGIN(2u);
    cg_concat(&concat2_params, concat2_addresses, concat2);
    CG_STEP_END(2u);

    /* 3: RESHAPE concat2 1x8 -> reshape3 2x4; a view, no code; sram 0x010, 8 bytes, steps 2..4 */

    /* 4: MEAN reshape3 2x4 -> mean4 4; sram 0x008, 4 bytes, step 4 */
    int8_t *const reshape3 = (int8_t *)&lasting_sram_pool[0x010];
    int8_t *const mean4 = (int8_t *)&lasting_sram_pool[0x008];
    void *const mean4_ws = &lasting_ccm_pool[0x000];
    CG_STEP_BEGIN(4u);
    cg_mean_s8(&mean4_params, reshape3, mean4, mean4_ws);
    memcpy(&lasting_sram_pool[0x018], &lasting_sram_pool[0x000], 4u);
    CG_STEP_END(4u);

    if (outputs != NULL) {
        copy_tensor(outputs->sum, lasting_output_sum(), LASTING_SUM_SIZE);
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
