/* SPDX-License-Identifier: 0BSD */
/*
 * mixed_bench.c -- generated; do not edit.
 *
 * Facts about this model for the test firmware (see cg_bench.h); never part of a product.
 */
#include <stddef.h>

#include "cg_bench.h"

#include "mixed.h"
#include "mixed_data.h"

static float input_double_[MIXED_DOUBLE_ELEMENTS];
static float input_int8_t_[MIXED_INT8_T_ELEMENTS];
static float output_class_[MIXED_CLASS_ELEMENTS];
static int8_t output_double_[MIXED_OUTPUT_DOUBLE_ELEMENTS];

/* clang-format off */
static const cg_bench_tensor bench_inputs[] = {
    {"double_", input_double_, MIXED_DOUBLE_SIZE},
    {"int8_t_", input_int8_t_, MIXED_INT8_T_SIZE},
};

static const cg_bench_tensor bench_outputs[] = {
    {"class_", output_class_, MIXED_CLASS_SIZE},
    {"double_", output_double_, MIXED_OUTPUT_DOUBLE_SIZE},
};

static const cg_bench_pool bench_pools[] = {
    {"sram", mixed_sram_pool, MIXED_SRAM_POOL_SIZE, 60u, 32u},
};

static const cg_bench_step bench_steps[] = {
    {"add0", &mixed_sram_pool[0x024], 24u},
    {"clamp1", &mixed_sram_pool[0x024], 24u},
    {"scale2", output_class_, 24u},
    {"quantize3", output_double_, 6u},
};

static const cg_bench_live bench_live[] = {
    {0u, 0u, 36u, 24u},
    {1u, 0u, 36u, 24u},
    {2u, 0u, 36u, 24u},
};

static const cg_bench_live bench_touched[] = {
    {0u, 0u, 36u, 24u},
    {1u, 0u, 36u, 24u},
    {2u, 0u, 36u, 24u},
};

/* clang-format on */

static cg_status run(void)
{
    const mixed_inputs inputs = {.double_ = input_double_, .int8_t_ = input_int8_t_};
    const mixed_outputs outputs = {.class_ = output_class_, .double_ = output_double_};
    CG_BENCH_BEFORE_CALL();
    const cg_status status = mixed_run(&inputs, &outputs);
    CG_BENCH_AFTER_CALL();
    return status;
}

/* clang-format off */
const cg_bench_model mixed_bench = {
    .name = "mixed",
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
    .input_count = 2,
    .output_count = 2,
    .pool_count = 1,
    .step_count = 4,
    .live_count = 3,
    .touched_count = 3,
};
/* clang-format on */
