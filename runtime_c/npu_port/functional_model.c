/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functional_model.c -- the NPU of test firmware: a model of it that the core computes. The core
 * and the model share a cache, so there is nothing to clean.
 */
#include "cg_npu.h"
#include "cg_npu_bench.h"
#include "npu_parts.h"

#define MAGIC         0x31504f43u /* COP1 */
#define ACTION_CONFIG 1u
#define ACTION_STREAM 2u
#define ACTION_NOP    5u

typedef struct {
    const npu_device *device;
    const uint32_t *words;
    size_t count;
} job;

/* Product in bits 28 to 31, binary logarithm of the multipliers in bits 0 to 3. */
static const npu_device *device_of(uint32_t configuration)
{
    static const char *const names[2][4] = {
        {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256"},
        {NULL, NULL, NULL, "ethos-u65-256"},
    };
    const uint32_t product = configuration >> 28;
    const uint32_t macs = configuration & 15u;
    if (product == 1 && macs == 9) {
        return npu_device_named("ethos-u65-512");
    }
    if (product > 1 || macs < 5 || macs > 8 || names[product][macs - 5] == NULL) {
        return NULL;
    }
    return npu_device_named(names[product][macs - 5]);
}

/* The driver's header: actions of one word, but for the configuration, which has two more. */
static job job_of(const uint32_t *words, size_t count)
{
    job found = {NULL, NULL, 0};
    size_t i = count > 0 && words[0] == MAGIC ? 1 : count;
    while (i < count) {
        const uint32_t action = words[i] & 0xffu;
        if (action == ACTION_CONFIG && i + 1 < count) {
            found.device = device_of(words[i + 1]);
            i += 3;
        } else if (action == ACTION_STREAM) {
            found.count = words[i] >> 16 | (words[i] >> 8 & 0xffu) << 16;
            found.words = found.count <= count - i - 1 ? &words[i + 1] : NULL;
            break;
        } else if (action == ACTION_NOP) {
            i++;
        } else {
            break;
        }
    }
    return found;
}

cg_status cg_npu_invoke(const void *stream, size_t stream_bytes, void *const bases[CG_NPU_BASES],
                        const size_t sizes[CG_NPU_BASES])
{
    static npu_model model; /* too large for a stack */
    npu_region regions[NPU_REGIONS] = {{NULL, 0, false}};
    for (size_t i = 0; i < CG_NPU_BASES; i++) {
        regions[i] = (npu_region){bases[i], sizes[i], i != 0};
    }
    const job work = job_of(stream, stream_bytes / sizeof(uint32_t));
    if (work.device == NULL || work.words == NULL) {
        return CG_ERR_NPU_FAULT;
    }
    const npu_work memory = {cg_npu_weights, cg_npu_weight_capacity, UINT64_MAX};
    npu_begin(&model, work.device, regions, memory);
    npu_run_words(&model, work.words, work.count);
    return npu_failed(&model) ? CG_ERR_NPU_FAULT : CG_OK;
}

void cg_npu_clean(void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
}

void cg_npu_invalidate(void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
}
