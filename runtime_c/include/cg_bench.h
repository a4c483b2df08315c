/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_bench.h -- what the test link knows of a model: written by the generator as
 * <model>_bench.c, read by runtime_c/bench. Never part of a product build.
 */
#ifndef CG_BENCH_H
#define CG_BENCH_H

#include <stdint.h>

#include "cg_runtime.h"

typedef struct {
    const char *name;
    void *data;
    uint32_t size_bytes;
} cg_bench_tensor;

typedef struct {
    const char *name;
    uint8_t *base;
    uint32_t size_bytes;  /* array size: the planned peak rounded up to the pool's alignment */
    uint32_t peak_bytes;  /* planned, not rounded */
    uint32_t guard_bytes; /* bytes behind base + size_bytes that belong to nobody */
} cg_bench_pool;

/* The result of a step; data is NULL if the step has none of its own in memory. */
typedef struct {
    const char *name;
    const void *data;
    uint32_t size_bytes;
} cg_bench_step;

/* In place of a step: where a call copies inputs into pools, and outputs out of them. */
#define CG_BENCH_EDGE 0xFFFFu
/* The hook of cg_runtime.h, which is told of an edge as step UINT32_MAX. */
void cg_step_begin(uint32_t step);

/* Bytes [offset, offset + size_bytes) of a pool that are owned by a buffer during a step. */
typedef struct {
    uint16_t step;
    uint16_t pool;
    uint32_t offset;
    uint32_t size_bytes;
} cg_bench_live;

typedef struct {
    const char *name;
    uint8_t sha256[32]; /* of the model file */
    cg_status (*run)(void);
    void (*start)(void);      /* what has to happen before the first run, NULL if nothing */
    cg_status (*reset)(void); /* sets the state to zero, NULL if there is none */
    const cg_bench_tensor *inputs;
    const cg_bench_tensor *outputs;
    const cg_bench_pool *pools;
    const cg_bench_step *steps;
    const cg_bench_live *live; /* sorted by step */
    /* Bytes of `live` that the step itself may use; sorted by step, pool, offset. */
    const cg_bench_live *touched;
    uint16_t input_count;
    uint16_t output_count;
    uint16_t pool_count;
    uint16_t step_count;
    uint32_t live_count;
    uint32_t touched_count;
} cg_bench_model;

/*
 * Around the call of the entry function in a model's `run`: on a target they note the stack pointer
 * that the entry function starts from, and keep the frame of `run` until it returns, so that the
 * stack measured is the entry function's call tree and nothing else. Where there is an operating
 * system nothing measures it.
 */
#if !defined(__unix__) && !defined(__APPLE__) && !defined(_WIN32)
extern uint8_t *volatile cg_bench_stack;
#define CG_BENCH_BEFORE_CALL()                                                                     \
    do {                                                                                           \
        register uint8_t *stack_pointer __asm__("sp");                                             \
        uint8_t *copied;                                                                           \
        __asm__ volatile("" : "=r"(copied) : "0"(stack_pointer) : "memory");                       \
        cg_bench_stack = copied;                                                                   \
    } while (0)
#define CG_BENCH_AFTER_CALL() __asm__ volatile("" : : : "memory")
#else
#define CG_BENCH_BEFORE_CALL() ((void)0)
#define CG_BENCH_AFTER_CALL()  ((void)0)
#endif

extern const cg_bench_model *const cg_bench_models[];
extern const uint32_t cg_bench_model_count;

/* Hash of everything linked and of its compiler: two builds of one model differ in it. */
extern const uint8_t cg_bench_build_sha256[32];

#endif /* CG_BENCH_H */
