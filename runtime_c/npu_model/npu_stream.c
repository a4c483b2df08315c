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
#define STRIDE_MODE 9U /* bit of a region register from which on its dimensions stand */

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

/* `length` bytes from one memory to another, the second perhaps the device's own. */
static void copy_bytes(npu_model *model, uint64_t from, uint64_t to, uint64_t length)
{
    const uint16_t source = model->short_registers[NPU_SET_DMA0_SRC_REGION];
    const uint16_t target = model->short_registers[NPU_SET_DMA0_DST_REGION];
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

/* Dimensions of a copy's source or target: 1 to 3; 4 is none. */
static uint32_t dimensions(uint16_t region)
{
    return (region >> STRIDE_MODE & 3U) + 1U;
}

/*
 * Pieces of the length register's bytes, as many as the sizes say. A side of one dimension goes on
 * where its last piece ended; others leave a gap after a piece, and after a row of pieces.
 */
static void copy_memory(npu_model *model)
{
    const uint16_t source = model->short_registers[NPU_SET_DMA0_SRC_REGION];
    const uint16_t target = model->short_registers[NPU_SET_DMA0_DST_REGION];
    const uint32_t inner = dimensions(source);
    const uint32_t outer = dimensions(target);
    const uint32_t most = inner > outer ? inner : outer;
    const uint32_t pieces = most > 1 ? model->short_registers[NPU_SET_DMA0_SIZE0] : 1;
    const uint32_t rows = most > 2 ? model->short_registers[NPU_SET_DMA0_SIZE1] : 1;
    const uint64_t length = model->long_registers[NPU_SET_DMA0_LEN];
    const uint64_t gap = model->long_registers[NPU_SET_DMA0_SKIP0];
    const uint64_t row_gap = model->long_registers[NPU_SET_DMA0_SKIP1];
    uint64_t from = model->long_registers[NPU_SET_DMA0_SRC];
    uint64_t to = model->long_registers[NPU_SET_DMA0_DST];
    if (most > 3 || (source & OWN_MEMORY) != 0) {
        npu_fail(model, NPU_NOT_MODELLED, 0, NPU_OP_DMA_START);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t piece = 0; piece < pieces && !npu_failed(model); piece++) {
            copy_bytes(model, from, to, length);
            from += length + (inner > 1 ? gap : 0);
            to += length + (outer > 1 ? gap : 0);
        }
        from += inner > 2 ? row_gap : 0;
        to += outer > 2 ? row_gap : 0;
    }
}

/* Runs an operation; returns false where `code` is none. */
static bool start(npu_model *model, uint32_t code, uint32_t parameter)
{
    if (code >= NPU_OP_CONV && code <= NPU_OP_ELEMENTWISE) {
        npu_check_modes(model, code);
        if (npu_failed(model)) {
            return true;
        }
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

/* Which registers exist: sixteen codes a number, those with payload and those without. */
static const uint16_t long_codes[NPU_REGISTERS / 16] = {
    [0x0] = 0x007f, [0x1] = 0x007f, [0x2] = 0x007f, [0x3] = 0x001f, [0x8] = 0x007f, [0x9] = 0x000f,
};
static const uint16_t short_codes[NPU_REGISTERS / 16] = {
    [0x10] = 0xbebf, [0x11] = 0x9dfe, [0x12] = 0xa3ff, [0x13] = 0x000f, [0x18] = 0xbe23,
};

static bool is_register(const uint16_t *codes, uint32_t code)
{
    return code < NPU_REGISTERS && (codes[code / 16] >> code % 16 & 1U) != 0;
}

static void run_word(npu_model *model, uint32_t word, uint32_t payload)
{
    const uint32_t code = word & CODE_BITS;
    const uint32_t parameter = word >> 16;
    if ((word & KIND_BITS) == HAS_PAYLOAD && is_register(long_codes, code)) {
        model->long_registers[code] = (uint64_t)parameter << 32 | payload;
    } else if ((word & KIND_BITS) == 0 && is_register(short_codes, code)) {
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
