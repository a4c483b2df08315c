/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_stream.c -- the command stream: sets registers, copies memory, starts operations.
 */
#include <string.h>

#include "npu_parts.h"

#define CODE_BITS   0x3ffU
#define HAS_PAYLOAD 0x4000U
#define KIND_BITS   0xc000U
#define OWN_MEMORY  0x100U /* of a region register: the device's own memory, not a region */
#define REGION_BITS 7U

typedef struct {
    const char *name;
    npu_device device;
} named_device;

static const named_device devices[] = {
    {"ethos-u55-32", {1, 8, 4, 14 * 1024}},  {"ethos-u55-64", {1, 8, 8, 14 * 1024}},
    {"ethos-u55-128", {1, 8, 8, 22 * 1024}}, {"ethos-u55-256", {1, 8, 8, 46 * 1024}},
    {"ethos-u65-256", {1, 8, 8, 46 * 1024}}, {"ethos-u65-512", {2, 8, 8, 46 * 1024}},
};

const npu_device *npu_device_named(const char *name)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (strcmp(devices[i].name, name) == 0) {
            return &devices[i].device;
        }
    }
    return NULL;
}

/* The two may overlap. The C library's frame for that is not known on every core. */
static void move_bytes(uint8_t *to, const uint8_t *from, size_t length)
{
    if (to <= from) {
        for (size_t i = 0; i < length; i++) {
            to[i] = from[i];
        }
    } else {
        for (size_t i = length; i > 0; i--) {
            to[i - 1] = from[i - 1];
        }
    }
}

static void copy_memory(npu_model *model)
{
    const uint16_t source = model->short_registers[NPU_SET_DMA0_SRC_REGION];
    const uint16_t target = model->short_registers[NPU_SET_DMA0_DST_REGION];
    const uint64_t from = model->long_registers[NPU_SET_DMA0_SRC];
    const uint64_t to = model->long_registers[NPU_SET_DMA0_DST];
    const uint64_t length = model->long_registers[NPU_SET_DMA0_LEN];
    if ((source & ~REGION_BITS) != 0 || (target & ~(REGION_BITS | OWN_MEMORY)) != 0) {
        npu_fail(model, NPU_NOT_MODELLED, 0, NPU_OP_DMA_START);
        return;
    }
    npu_spend(model, length / 16 + 1);
    const uint8_t *bytes = npu_readable(model, source & REGION_BITS, from, length);
    if (bytes == NULL || npu_failed(model)) {
        return;
    }
    if ((target & OWN_MEMORY) == 0) {
        uint8_t *written = npu_writable(model, target & REGION_BITS, to, length);
        if (written != NULL) {
            move_bytes(written, bytes, (size_t)length);
        }
        return;
    }
    const uint64_t offset = to - model->device->lut_address;
    if (offset > NPU_LUT_BYTES || length > NPU_LUT_BYTES - offset) {
        npu_fail(model, NPU_OUTSIDE_REGION, target, to);
        return;
    }
    memcpy(model->lut + offset, bytes, (size_t)length);
}

/* Whether a tensor runs backwards, as MIRROR_PAD's do: where its base lies then is not published.
 */
static bool runs_backwards(const npu_model *model)
{
    static const uint16_t strides[] = {NPU_SET_IFM_STRIDE_X,  NPU_SET_IFM_STRIDE_Y,
                                       NPU_SET_OFM_STRIDE_X,  NPU_SET_OFM_STRIDE_Y,
                                       NPU_SET_IFM2_STRIDE_X, NPU_SET_IFM2_STRIDE_Y};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        if ((model->long_registers[strides[i]] >> 39 & 1U) != 0) {
            return true;
        }
    }
    return false;
}

/* Runs an operation; returns false where `code` is none. */
static bool start(npu_model *model, uint32_t code, uint32_t parameter)
{
    if (code >= NPU_OP_CONV && code <= NPU_OP_ELEMENTWISE && runs_backwards(model)) {
        npu_fail(model, NPU_NOT_MODELLED, 0, code);
        return true;
    }
    switch (code) {
    case NPU_OP_CONV:
        npu_convolve(model, false);
        return true;
    case NPU_OP_DEPTHWISE:
        npu_convolve(model, true);
        return true;
    case NPU_OP_POOL:
        npu_pool(model, parameter);
        return true;
    case NPU_OP_ELEMENTWISE:
        npu_elementwise(model, parameter);
        return true;
    case NPU_OP_DMA_START:
        copy_memory(model);
        return true;
    case NPU_OP_IRQ:
    case NPU_OP_DMA_WAIT:
    case NPU_OP_KERNEL_WAIT:
    case NPU_OP_PMU_MASK:
        return true; /* each command has ended before the next begins */
    default:
        return false;
    }
}

/* Names of long registers that exist, as ranges of codes. */
static bool is_long_register(uint32_t code)
{
    return code <= NPU_SET_IFM_STRIDE_C ||
           (code >= NPU_SET_OFM_BASE0 && code <= NPU_SET_OFM_STRIDE_C) ||
           (code >= NPU_SET_WEIGHT_BASE && code <= NPU_SET_OPB_SCALE) ||
           (code >= NPU_SET_DMA0_SRC && code <= NPU_SET_DMA0_SKIP1) ||
           (code >= NPU_SET_IFM2_BASE0 && code <= NPU_SET_IFM2_STRIDE_C) ||
           (code >= NPU_SET_WEIGHT1_BASE && code <= NPU_SET_SCALE1_LENGTH);
}

static bool is_short_register(uint32_t code)
{
    return (code >= NPU_SET_IFM_PAD_TOP && code <= NPU_SET_DMA0_SIZE1) ||
           (code >= NPU_SET_IFM2_BROADCAST && code <= NPU_SET_IFM2_REGION);
}

static void run_word(npu_model *model, uint32_t word, uint32_t payload)
{
    const uint32_t code = word & CODE_BITS;
    const uint32_t parameter = word >> 16;
    if ((word & KIND_BITS) == HAS_PAYLOAD && is_long_register(code)) {
        model->long_registers[code] = (uint64_t)parameter << 32 | payload;
    } else if ((word & KIND_BITS) == 0 && is_short_register(code)) {
        model->short_registers[code] = (uint16_t)parameter;
    } else if ((word & KIND_BITS) != 0 || !start(model, code, parameter)) {
        npu_fail(model, NPU_UNKNOWN_COMMAND, 0, word & 0xffffU);
    }
}

void npu_begin(npu_model *model, const npu_device *device, const npu_region *regions, npu_work work)
{
    memset(model, 0, sizeof *model);
    model->device = device;
    model->regions = regions;
    model->work = work;
}

void npu_run_words(npu_model *model, const uint32_t *stream, size_t words)
{
    for (size_t i = 0; i < words && !npu_failed(model); i++) {
        const bool has_payload = (stream[i] & KIND_BITS) == HAS_PAYLOAD;
        model->word = (uint32_t)i;
        if ((stream[i] & (CODE_BITS | KIND_BITS)) == NPU_OP_STOP) {
            return;
        }
        if (has_payload && i + 1 == words) {
            npu_fail(model, NPU_CUT_COMMAND, 0, 0);
            return;
        }
        run_word(model, stream[i], has_payload ? stream[i + 1] : 0);
        i += has_payload ? 1 : 0;
    }
    npu_fail(model, NPU_NO_STOP, 0, 0);
}

npu_status npu_run(const npu_device *device, const uint32_t *stream, size_t words,
                   const npu_region regions[NPU_REGIONS], npu_work work, npu_fault *fault)
{
    npu_model model;
    npu_begin(&model, device, regions, work);
    npu_run_words(&model, stream, words);
    if (fault != NULL) {
        *fault = model.fault;
    }
    return model.fault.status;
}
