/* SPDX-License-Identifier: 0BSD */
/*
 * sized_bench.c -- generated; do not edit.
 *
 * Facts about this model for the test firmware (see cg_bench.h); never part of a product.
 */
#include <stddef.h>

#include "cg_bench.h"

#include "sized.h"
#include "sized_data.h"
#include "sized_kernels.h"

static int8_t input_x0[SIZED_X0_ELEMENTS];
static int8_t output_v13[SIZED_V13_ELEMENTS];

static uint32_t bench_dims[1];

/* clang-format off */
static const cg_bench_tensor bench_inputs[] = {
    {"x0", input_x0, SIZED_X0_SIZE},
    {"dims", bench_dims, 4u},
};

static const cg_bench_tensor bench_outputs[] = {
    {"v13", output_v13, SIZED_V13_SIZE},
};

static const cg_bench_pool bench_pools[] = {
    {"sram", sized_sram_pool, SIZED_SRAM_POOL_SIZE, 960u, 32u},
};

static cg_bench_step bench_steps[] = {
    {"conv0", NULL, 160u},
    {"conv1", NULL, 320u},
    {"dw2", NULL, 160u},
    {"concat3", NULL, 320u},
    {"conv4", NULL, 320u},
    {"add5", &sized_sram_pool[0x000], 320u},
    {"conv6", NULL, 80u},
};

static cg_bench_live bench_live[] = {
    {0u, 0u, 0u, 320u},
    {0u, 0u, 640u, 160u},
    {1u, 0u, 0u, 320u},
    {1u, 0u, 640u, 160u},
    {1u, 0u, 320u, 320u},
    {2u, 0u, 0u, 320u},
    {2u, 0u, 640u, 160u},
    {2u, 0u, 320u, 320u},
    {2u, 0u, 800u, 160u},
    {3u, 0u, 0u, 320u},
    {3u, 0u, 640u, 160u},
    {3u, 0u, 800u, 160u},
    {3u, 0u, 320u, 320u},
    {4u, 0u, 0u, 320u},
    {4u, 0u, 320u, 320u},
    {4u, 0u, 640u, 320u},
    {5u, 0u, 320u, 320u},
    {5u, 0u, 640u, 320u},
    {5u, 0u, 0u, 320u},
    {6u, 0u, 0u, 320u},
    {6u, 0u, 248u, 80u},
    {65535u, 0u, 0u, 320u},
    {65535u, 0u, 248u, 80u},
};

static const cg_bench_live bench_touched[] = {
    {0u, 0u, 0u, 320u},
    {0u, 0u, 640u, 160u},
    {1u, 0u, 0u, 640u},
    {2u, 0u, 320u, 320u},
    {2u, 0u, 800u, 160u},
    {3u, 0u, 320u, 640u},
    {4u, 0u, 0u, 320u},
    {4u, 0u, 640u, 320u},
    {5u, 0u, 0u, 960u},
    {6u, 0u, 0u, 328u},
};

/* clang-format on */

/* Results begin and end where the sizes of the call say. */
static void place_steps(const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    bench_steps[0].data = &sized_sram_pool[8 * T + 16 * conv0_dim1];
    bench_steps[0].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_steps[1].data = &sized_sram_pool[8 * T];
    bench_steps[1].size_bytes = (uint32_t)(8 * T);
    bench_steps[2].data = &sized_sram_pool[8 * T + 24 * conv0_dim1];
    bench_steps[2].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_steps[3].data = &sized_sram_pool[8 * T];
    bench_steps[3].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_steps[4].data = &sized_sram_pool[8 * T + 16 * conv0_dim1];
    bench_steps[4].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_steps[5].data = &sized_sram_pool[0x000];
    bench_steps[5].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_steps[6].data = &sized_sram_pool[cg_round_up(12 * conv0_dim1 + 4, 8)];
    bench_steps[6].size_bytes = (uint32_t)(4 * conv0_dim1);
    bench_live[0].offset = (uint32_t)(0);
    bench_live[0].size_bytes = (uint32_t)(8 * T);
    bench_live[1].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[1].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[2].offset = (uint32_t)(0);
    bench_live[2].size_bytes = (uint32_t)(8 * T);
    bench_live[3].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[3].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[4].offset = (uint32_t)(8 * T);
    bench_live[4].size_bytes = (uint32_t)(8 * T);
    bench_live[5].offset = (uint32_t)(0);
    bench_live[5].size_bytes = (uint32_t)(8 * T);
    bench_live[6].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[6].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[7].offset = (uint32_t)(8 * T);
    bench_live[7].size_bytes = (uint32_t)(8 * T);
    bench_live[8].offset = (uint32_t)(8 * T + 24 * conv0_dim1);
    bench_live[8].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[9].offset = (uint32_t)(0);
    bench_live[9].size_bytes = (uint32_t)(8 * T);
    bench_live[10].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[10].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[11].offset = (uint32_t)(8 * T + 24 * conv0_dim1);
    bench_live[11].size_bytes = (uint32_t)(8 * conv0_dim1);
    bench_live[12].offset = (uint32_t)(8 * T);
    bench_live[12].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[13].offset = (uint32_t)(0);
    bench_live[13].size_bytes = (uint32_t)(8 * T);
    bench_live[14].offset = (uint32_t)(8 * T);
    bench_live[14].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[15].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[15].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[16].offset = (uint32_t)(8 * T);
    bench_live[16].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[17].offset = (uint32_t)(8 * T + 16 * conv0_dim1);
    bench_live[17].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[18].offset = (uint32_t)(0);
    bench_live[18].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[19].offset = (uint32_t)(0);
    bench_live[19].size_bytes = (uint32_t)(16 * conv0_dim1);
    bench_live[20].offset = (uint32_t)(cg_round_up(12 * conv0_dim1 + 4, 8));
    bench_live[20].size_bytes = (uint32_t)(4 * conv0_dim1);
    bench_live[21].offset = (uint32_t)(0);
    bench_live[21].size_bytes = (uint32_t)(8 * T);
    bench_live[22].offset = (uint32_t)(cg_round_up(12 * conv0_dim1 + 4, 8));
    bench_live[22].size_bytes = (uint32_t)(4 * conv0_dim1);
}

static cg_status run(void)
{
    const sized_inputs inputs = {.x0 = input_x0};
    const sized_outputs outputs = {.v13 = output_v13};
    const sized_dims dims = {.T = bench_dims[0]};
    place_steps(&dims);
    cg_step_begin(UINT32_MAX); /* in front of the first: what is copied */
    CG_BENCH_BEFORE_CALL();
    const cg_status status = sized_run(&inputs, &outputs, &dims);
    CG_BENCH_AFTER_CALL();
    return status;
}

/* clang-format off */
const cg_bench_model sized_bench = {
    .name = "sized",
    .sha256 = {
    0xe2, 0xe8, 0x36, 0x5b, 0x8a, 0x7d, 0x46, 0xda, 0xec, 0xc9, 0x89, 0xd5, 0x93, 0xd2, 0x03, 0xef,
    0xad, 0x4f, 0xc5, 0x38, 0x19, 0x5b, 0x3b, 0x66, 0x49, 0x25, 0x97, 0x24, 0x4b, 0x76, 0x7c, 0xde,
    },
    .run = run,
    .inputs = bench_inputs,
    .outputs = bench_outputs,
    .pools = bench_pools,
    .steps = bench_steps,
    .live = bench_live,
    .touched = bench_touched,
    .input_count = 2,
    .output_count = 1,
    .pool_count = 1,
    .step_count = 7,
    .live_count = 23,
    .touched_count = 10,
};
/* clang-format on */
