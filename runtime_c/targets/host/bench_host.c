/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_host.c -- see bench_host.h. Compiled with AddressSanitizer, every byte of a pool that no
 * buffer of the current step owns is poisoned while the step runs, and all of them between steps.
 */
#include "bench_host.h"

#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define FORBID(address, bytes) ASAN_POISON_MEMORY_REGION((address), (bytes))
#define ALLOW(address, bytes)  ASAN_UNPOISON_MEMORY_REGION((address), (bytes))
#else
#define FORBID(address, bytes) ((void)(address), (void)(bytes))
#define ALLOW(address, bytes)  ((void)(address), (void)(bytes))
#endif

#ifndef CG_HOST_GUARD_BYTES
#error "CG_HOST_GUARD_BYTES must say how many bytes the linker leaves around each pool"
#endif

#define NO_STEP UINT32_MAX

const uint32_t cg_host_guard_bytes = CG_HOST_GUARD_BYTES;

static struct {
    const cg_bench_model *model;
    uint8_t *trace;  /* where the next result goes; NULL: no trace */
    uint32_t traced; /* steps whose results are there */
    uint32_t step;
} current;

/*
 * The guards of a pool: bytes that belong to nobody, or to other models, which do not run; fewer
 * where another pool of the model is near.
 */
static size_t guard_before(const cg_bench_model *model, const cg_bench_pool *pool)
{
    size_t bytes = CG_HOST_GUARD_BYTES;
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        const uint8_t *end = model->pools[i].base + model->pools[i].size_bytes;
        if (end <= pool->base && (size_t)(pool->base - end) < bytes) {
            bytes = (size_t)(pool->base - end);
        }
    }
    return bytes;
}

static size_t guard_behind(const cg_bench_model *model, const cg_bench_pool *pool)
{
    size_t bytes = CG_HOST_GUARD_BYTES;
    const uint8_t *end = pool->base + pool->size_bytes;
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        const uint8_t *base = model->pools[i].base;
        if (base >= end && (size_t)(base - end) < bytes) {
            bytes = (size_t)(base - end);
        }
    }
    return bytes;
}

/* A pool with its guards: what is painted, poisoned and checked. */
static uint8_t *guarded_base(const cg_bench_model *model, const cg_bench_pool *pool)
{
    return pool->base - guard_before(model, pool);
}

static size_t guarded_bytes(const cg_bench_model *model, const cg_bench_pool *pool)
{
    return guard_before(model, pool) + pool->size_bytes + guard_behind(model, pool);
}

static void forbid_pools(const cg_bench_model *model)
{
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        FORBID(guarded_base(model, &model->pools[i]), guarded_bytes(model, &model->pools[i]));
    }
}

static void allow_pools(const cg_bench_model *model)
{
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        ALLOW(guarded_base(model, &model->pools[i]), guarded_bytes(model, &model->pools[i]));
    }
}

/* Keeps the results of the steps in front of `end`; those without code were there before. */
static void trace_up_to(uint32_t end)
{
    for (; current.trace != NULL && current.traced < end; ++current.traced) {
        const cg_bench_step *done = &current.model->steps[current.traced];
        if (done->data != NULL) {
            memcpy(current.trace, done->data, done->size_bytes);
            current.trace += done->size_bytes;
        }
    }
}

static void allow_live(const cg_bench_model *model, uint32_t step)
{
    for (uint32_t i = 0; i < model->live_count; ++i) {
        const cg_bench_live *live = &model->live[i];
        if (live->step == step) {
            ALLOW(model->pools[live->pool].base + live->offset, live->size_bytes);
        }
    }
}

void cg_step_begin(uint32_t step)
{
    const cg_bench_model *model = current.model;
    if (step == NO_STEP) {
        allow_live(model, CG_BENCH_EDGE);
        return;
    }
    trace_up_to(step);
    current.step = step;
    forbid_pools(model); /* the edge was open */
    allow_live(model, step);
}

void cg_step_end(uint32_t step)
{
    trace_up_to(step + 1u);
    forbid_pools(current.model);
    current.step = NO_STEP;
    allow_live(current.model, CG_BENCH_EDGE);
}

static uint32_t peak_of(const cg_bench_pool *pool, uint8_t paint)
{
    uint32_t peak = pool->size_bytes;
    while (peak > 0u && pool->base[peak - 1u] == paint) {
        --peak;
    }
    return peak;
}

static uint8_t is_guard_intact(const cg_bench_model *model, const cg_bench_pool *pool,
                               uint8_t paint)
{
    const uint8_t *at = guarded_base(model, pool);
    const uint8_t *end = at + guarded_bytes(model, pool);
    for (; at < end; ++at) {
        if ((at < pool->base || at >= pool->base + pool->size_bytes) && *at != paint) {
            return 0;
        }
    }
    return 1;
}

void cg_host_begin(uint32_t model_index, uint8_t paint)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        memset(guarded_base(model, &model->pools[i]), paint,
               guarded_bytes(model, &model->pools[i]));
    }
    if (model->start != NULL) {
        model->start();
    }
}

int32_t cg_host_reset(uint32_t model_index)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    return model->reset != NULL ? (int32_t)model->reset() : (int32_t)CG_OK;
}

void cg_host_write(uint32_t model_index, uint32_t input, const uint8_t *data)
{
    const cg_bench_tensor *tensor = &cg_bench_models[model_index]->inputs[input];
    memcpy(tensor->data, data, tensor->size_bytes);
}

int32_t cg_host_infer(uint32_t model_index, uint8_t *outputs, uint8_t *trace)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    cg_status status;

    current.model = model;
    current.trace = trace;
    current.traced = 0;
    current.step = NO_STEP;
    forbid_pools(model);
    status = model->run();
    allow_pools(model);
    trace_up_to(model->step_count);

    for (uint32_t i = 0; i < model->output_count; ++i) {
        memcpy(outputs, model->outputs[i].data, model->outputs[i].size_bytes);
        outputs += model->outputs[i].size_bytes;
    }
    return (int32_t)status;
}

void cg_host_marks(uint32_t model_index, uint8_t paint, uint32_t *peaks, uint8_t *guards_intact)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    *guards_intact = 1;
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        peaks[i] = peak_of(&model->pools[i], paint);
        *guards_intact =
            (uint8_t)(*guards_intact & is_guard_intact(model, &model->pools[i], paint));
    }
}

int32_t cg_host_run(uint32_t model_index, uint8_t paint, const uint8_t *inputs, uint8_t *outputs,
                    uint32_t *peaks, uint8_t *guards_intact, uint8_t *trace)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    int32_t status;

    cg_host_begin(model_index, paint);
    for (uint32_t i = 0; i < model->input_count; ++i) {
        cg_host_write(model_index, i, inputs);
        inputs += model->inputs[i].size_bytes;
    }
    status = cg_host_infer(model_index, outputs, trace);
    cg_host_marks(model_index, paint, peaks, guards_intact);
    return status;
}

#if defined(__SANITIZE_ADDRESS__)
/* Called by AddressSanitizer when it reports: says in which step, and where in which pool. */
void __asan_on_error(void)
{
    const cg_bench_model *model = current.model;
    const uint8_t *address = __asan_get_report_address();
    const char *access = __asan_get_report_access_type() != 0 ? "write" : "read";

    if (model == NULL) {
        return;
    }
    fprintf(stderr, "cg_host: step=%ld access=%s bytes=%zu",
            current.step == NO_STEP ? -1L : (long)current.step, access,
            __asan_get_report_access_size());
    for (uint32_t i = 0; i < model->pool_count; ++i) {
        const uint8_t *base = guarded_base(model, &model->pools[i]);
        if (address >= base && address < base + guarded_bytes(model, &model->pools[i])) {
            fprintf(stderr, " pool=%s offset=%ld", model->pools[i].name,
                    (long)(address - model->pools[i].base));
        }
    }
    fprintf(stderr, "\n");
}
#endif
