/* SPDX-License-Identifier: 0BSD */
/*
 * counter_bench.c -- generated; do not edit.
 *
 * Facts about this model for the test firmware (see cg_bench.h); never part of a product.
 */
#include <stddef.h>

#include "cg_bench.h"

#include "counter.h"
#include "counter_data.h"

static int8_t input_x[COUNTER_X_ELEMENTS];
static int8_t output_sum[COUNTER_SUM_ELEMENTS];

/* clang-format off */
static const cg_bench_tensor bench_inputs[] = {
    {"x", input_x, COUNTER_X_SIZE},
};

static const cg_bench_tensor bench_outputs[] = {
    {"sum", output_sum, COUNTER_SUM_SIZE},
};

static const cg_bench_pool bench_pools[] = {
    {"sram", counter_sram_pool, COUNTER_SRAM_POOL_SIZE, 24u, 32u},
    {"ccm", counter_ccm_pool, COUNTER_CCM_POOL_SIZE, 16u, 32u},
};

static const cg_bench_step bench_steps[] = {
    {"lut0", &counter_sram_pool[0x008], 4u},
    {"lut1", &counter_sram_pool[0x00c], 4u},
    {"concat2", &counter_sram_pool[0x010], 8u},
    {"reshape3", NULL, 0u},
    {"mean4", output_sum, 4u},
};

static const cg_bench_live bench_live[] = {
    {0u, 0u, 8u, 4u},
    {1u, 0u, 8u, 8u},
    {2u, 0u, 8u, 16u},
    {4u, 0u, 16u, 8u},
    {4u, 1u, 0u, 16u},
};

static const cg_bench_live bench_touched[] = {
    {0u, 0u, 8u, 4u},
    {1u, 0u, 8u, 8u},
    {2u, 0u, 8u, 16u},
    {4u, 0u, 16u, 8u},
    {4u, 1u, 0u, 16u},
};

/* clang-format on */

static cg_status run(void)
{
    const counter_inputs inputs = {.x = input_x};
    const counter_outputs outputs = {.sum = output_sum};
    CG_BENCH_BEFORE_CALL();
    const cg_status status = counter_run(&inputs, &outputs);
    CG_BENCH_AFTER_CALL();
    return status;
}

/* clang-format off */
const cg_bench_model counter_bench = {
    .name = "counter",
    .sha256 = {
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    },
    .run = run,
    .inputs = bench_inputs,
    .outputs = bench_outputs,
    .pools = bench_pools,
    .steps = bench_steps,
    .live = bench_live,
    .touched = bench_touched,
    .input_count = 1,
    .output_count = 1,
    .pool_count = 2,
    .step_count = 5,
    .live_count = 5,
    .touched_count = 5,
};
/* clang-format on */
