/* SPDX-License-Identifier: 0BSD */
/*
 * lasting_bench.c -- generated; do not edit.
 *
 * Facts about this model for the test firmware (see cg_bench.h); never part of a product.
 */
#include <stddef.h>

#include "cg_bench.h"

#include "lasting.h"
#include "lasting_data.h"

/* clang-format off */
static const cg_bench_tensor bench_inputs[] = {
    {"x", &lasting_sram_pool[0x008], LASTING_X_SIZE},
    {"past", &lasting_sram_pool[0x018], 4u},
};

static const cg_bench_tensor bench_outputs[] = {
    {"sum", &lasting_sram_pool[0x008], LASTING_SUM_SIZE},
    {"next", &lasting_sram_pool[0x000], 4u},
};

static const cg_bench_pool bench_pools[] = {
    {"sram", lasting_sram_pool, LASTING_SRAM_POOL_SIZE, 28u, 32u},
    {"ccm", lasting_ccm_pool, LASTING_CCM_POOL_SIZE, 16u, 32u},
};

static const cg_bench_step bench_steps[] = {
    {"lut0", &lasting_sram_pool[0x000], 4u},
    {"lut1", &lasting_sram_pool[0x00c], 4u},
    {"concat2", &lasting_sram_pool[0x010], 8u},
    {"reshape3", NULL, 0u},
    {"mean4", &lasting_sram_pool[0x008], 4u},
};

static const cg_bench_live bench_live[] = {
    {0u, 0u, 0u, 4u},
    {0u, 0u, 8u, 4u},
    {0u, 0u, 24u, 4u},
    {1u, 0u, 0u, 4u},
    {1u, 0u, 12u, 4u},
    {1u, 0u, 24u, 4u},
    {2u, 0u, 0u, 4u},
    {2u, 0u, 12u, 16u},
    {4u, 0u, 0u, 4u},
    {4u, 0u, 8u, 4u},
    {4u, 0u, 16u, 12u},
    {4u, 1u, 0u, 16u},
};

static const cg_bench_live bench_touched[] = {
    {0u, 0u, 0u, 4u},
    {0u, 0u, 8u, 4u},
    {1u, 0u, 12u, 4u},
    {1u, 0u, 24u, 4u},
    {2u, 0u, 0u, 4u},
    {2u, 0u, 12u, 12u},
    {4u, 0u, 0u, 4u},
    {4u, 0u, 8u, 4u},
    {4u, 0u, 16u, 12u},
    {4u, 1u, 0u, 16u},
};

/* clang-format on */

static cg_status run(void)
{
    CG_BENCH_BEFORE_CALL();
    const cg_status status = lasting_run(NULL, NULL);
    CG_BENCH_AFTER_CALL();
    return status;
}

static cg_status reset(void)
{
    lasting_reset();
    return CG_OK;
}

/* clang-format off */
const cg_bench_model lasting_bench = {
    .name = "lasting",
    .sha256 = {
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    },
    .run = run,
    .reset = reset,
    .inputs = bench_inputs,
    .outputs = bench_outputs,
    .pools = bench_pools,
    .steps = bench_steps,
    .live = bench_live,
    .touched = bench_touched,
    .input_count = 2,
    .output_count = 2,
    .pool_count = 2,
    .step_count = 5,
    .live_count = 12,
    .touched_count = 10,
};
/* clang-format on */
