/* SPDX-License-Identifier: 0BSD */
/*
 * counter.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 *
 * sram pool, 24 bytes (lower bound 12), 1 byte a column
 *               0x000           0x010    live bytes
 *    0 lut0     ........AAAA............          4
 *    1 lut1     ........AAAABBBB........          8
 *    2 concat2  ........AAAABBBBCCCCCCCC         16  <- peak
 *    3 reshape3 ................CCCCCCCC          8
 *    4 mean4    ................CCCCCCCC          8
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
 * A   lut0               sram     0x008        4      1  0..2
 * B   lut1               sram     0x00c        4      1  1..2
 * C   concat2, reshape3  sram     0x010        8      1  2..4
 * *   mean4.ws           ccm      0x000       16      4  4..4
 */
#include "counter.h"

#include <stddef.h>

#include "counter_data.h"
#include "counter_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL counter_model

/* ---- pools ---------------------------------------------------------------------------- */

uint8_t counter_sram_pool[COUNTER_SRAM_POOL_SIZE] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);
uint8_t counter_ccm_pool[COUNTER_CCM_POOL_SIZE] CG_SECTION(".bss.cg.ccm") CG_ALIGNED(16);

/* ---- layer parameters ----------------------------------------------------------------- */

static const cg_concat_params concat2_params = {
    .rows = 1,
    .count = 2,
    .row_bytes = counter_flash_pool.concat2_row_bytes,
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

/* ---- entry function ------------------------------------------------------------------- */

cg_status counter_run(const counter_inputs *inputs, const counter_outputs *outputs)
{
    if ((inputs == NULL) || (inputs->x == NULL) || (outputs == NULL) || (outputs->sum == NULL)) {
        return CG_ERR_NULL_POINTER;
    }

    const int8_t *const x = inputs->x;

    /* 0: RELU x 1x4 -> lut0 1x4; sram 0x008, 4 bytes, steps 0..2 */
    int8_t *const lut0 = (int8_t *)&counter_sram_pool[0x008];
    CG_STEP_BEGIN(0u);
    cg_lut_s8(counter_flash_pool.lut0_table, x, lut0, 4);
    CG_STEP_END(0u);

    /* 1: RELU lut0 1x4 -> lut1 1x4; sram 0x00c, 4 bytes, steps 1..2 */
    int8_t *const lut1 = (int8_t *)&counter_sram_pool[0x00c];
    CG_STEP_BEGIN(1u);
    cg_lut_s8(counter_flash_pool.lut0_table, lut0, lut1, 4);
    CG_STEP_END(1u);

    /* 2: CONCATENATION lut0 1x4 + lut1 1x4 -> concat2 1x8; sram 0x010, 8 bytes, steps 2..4 */
    int8_t *const concat2 = (int8_t *)&counter_sram_pool[0x010];
    const void *const concat2_addresses[] = {lut0, lut1};
    CG_STEP_BEGIN(2u);
    cg_concat(&concat2_params, concat2_addresses, concat2);
    CG_STEP_END(2u);

    /* 3: RESHAPE concat2 1x8 -> reshape3 2x4; a view, no code; sram 0x010, 8 bytes, steps 2..4 */

    /* 4: MEAN reshape3 2x4 -> mean4 4; at outputs->sum */
    int8_t *const reshape3 = (int8_t *)&counter_sram_pool[0x010];
    int8_t *const mean4 = outputs->sum;
    void *const mean4_ws = &counter_ccm_pool[0x000];
    CG_STEP_BEGIN(4u);
    cg_mean_s8(&mean4_params, reshape3, mean4, mean4_ws);
    CG_STEP_END(4u);

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
