/* SPDX-License-Identifier: 0BSD */
/*
 * bench_models.c -- generated; do not edit. The models that this test firmware holds.
 */
#include "cg_bench.h"

extern const cg_bench_model counter_bench;

const cg_bench_model *const cg_bench_models[] = {
    &counter_bench,
};

const uint32_t cg_bench_model_count = 1;
