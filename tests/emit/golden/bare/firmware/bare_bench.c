/* SPDX-License-Identifier: 0BSD */
/*
 * bare_bench.c -- generated; do not edit.
 *
 * Facts about this model for the test firmware (see cg_bench.h); never part of a product.
 */
#include <stddef.h>

#include "cg_bench.h"

#include "bare.h"
#include "bare_data.h"

static float input_x[BARE_X_ELEMENTS];
static float output_y[BARE_Y_ELEMENTS];

/* clang-format off */
static const cg_bench_tensor bench_inputs[] = {
    {"x", input_x, BARE_X_SIZE},
};

static const cg_bench_tensor bench_outputs[] = {
    {"y", output_y, BARE_Y_SIZE},
};

static const cg_bench_step bench_steps[] = {
    {"reshape0", NULL, 0u},
    {"clamp1", output_y, 16u},
};

/* clang-format on */

static cg_status run(void)
{
    const bare_inputs inputs = {.x = input_x};
    const bare_outputs outputs = {.y = output_y};
    CG_BENCH_BEFORE_CALL();
    const cg_status status = bare_run(&inputs, &outputs);
    CG_BENCH_AFTER_CALL();
    return status;
}

/* clang-format off */
const cg_bench_model bare_bench = {
    .name = "bare",
    .sha256 = {
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    },
    .run = run,
    .inputs = bench_inputs,
    .outputs = bench_outputs,
    .pools = NULL,
    .steps = bench_steps,
    .live = NULL,
    .touched = NULL,
    .input_count = 1,
    .output_count = 1,
    .pool_count = 0,
    .step_count = 2,
    .live_count = 0,
    .touched_count = 0,
};
/* clang-format on */
