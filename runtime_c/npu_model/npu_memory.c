/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_memory.c -- checked access to regions, and elements of tensors in them.
 */
#include <string.h>

#include "npu_parts.h"

void npu_fail(npu_model *model, npu_status status, uint32_t region, uint64_t address)
{
    if (model->fault.status == NPU_OK) {
        model->fault = (npu_fault){status, model->word, region, address};
    }
}

bool npu_failed(const npu_model *model)
{
    return model->fault.status != NPU_OK;
}

void npu_spend(npu_model *model, uint64_t steps)
{
    if (steps > model->work.most_steps) {
        npu_fail(model, NPU_TOO_MUCH_WORK, 0, 0);
    } else {
        model->work.most_steps -= steps;
    }
}

static const npu_region *region_with(npu_model *model, uint32_t region, uint64_t address,
                                     uint64_t length)
{
    const npu_region *memory = region < NPU_REGIONS ? &model->regions[region] : NULL;
    if (memory == NULL || memory->bytes == NULL || address > memory->length ||
        length > memory->length - address) {
        npu_fail(model, NPU_OUTSIDE_REGION, region, address);
        return NULL;
    }
    return memory;
}

const uint8_t *npu_readable(npu_model *model, uint32_t region, uint64_t address, uint64_t length)
{
    const npu_region *memory = region_with(model, region, address, length);
    if (memory == NULL) {
        return NULL;
    }
    npu_watch_read(model, region, address, length);
    return memory->bytes + address;
}

uint8_t *npu_writable(npu_model *model, uint32_t region, uint64_t address, uint64_t length)
{
    const npu_region *memory = region_with(model, region, address, length);
    if (memory != NULL && !memory->writable) {
        npu_fail(model, NPU_WRITES_CONSTANTS, region, address);
        return NULL;
    }
    if (memory == NULL) {
        return NULL;
    }
    npu_watch_write(model, region, address, length);
    return memory->bytes + address;
}

/* Addresses and strides have 40 bits; sums wrap. */
#define ADDRESS_BITS (((uint64_t)1 << 40) - 1)

static int64_t stride(uint64_t reg)
{
    const uint64_t sign = (uint64_t)1 << 39;
    return (int64_t)(((reg & ADDRESS_BITS) ^ sign) - sign);
}

/* A tensor whose registers begin at `shorts` (…_PAD_TOP's block) and `longs` (…_BASE0). */
static npu_tensor tensor_at(const npu_model *model, uint32_t longs, uint32_t region,
                            uint32_t width0, uint32_t precision, uint32_t zero_point)
{
    const uint64_t *addresses = model->long_registers + longs;
    const uint16_t *tile = model->short_registers + width0;
    const uint16_t format = model->short_registers[precision];
    const bool is_result = precision == NPU_SET_OFM_PRECISION;
    const uint16_t zero = model->short_registers[zero_point];
    npu_tensor tensor = {
        .region = model->short_registers[region],
        .left_width = tile[0] + 1U,
        .left_height = tile[1] + 1U,
        .right_height = tile[2] + 1U,
        .column_stride = stride(addresses[4]),
        .row_stride = stride(addresses[5]),
        .brick_stride = stride(addresses[6]),
        .element_bytes = 1U << (is_result ? format >> 1 & 3U : format >> 2 & 3U),
        .has_sign = (format & 1U) != 0,
        .in_bricks = (format & 0x40U) != 0,
    };
    tensor.zero_point = tensor.has_sign ? (int16_t)zero : (int32_t)zero;
    memcpy(tensor.tile_addresses, addresses, sizeof tensor.tile_addresses);
    return tensor;
}

npu_tensor npu_input(const npu_model *model)
{
    return tensor_at(model, NPU_SET_IFM_BASE0, NPU_SET_IFM_REGION, NPU_SET_IFM_WIDTH0_M1,
                     NPU_SET_IFM_PRECISION, NPU_SET_IFM_ZERO_POINT);
}

npu_tensor npu_second_input(const npu_model *model)
{
    return tensor_at(model, NPU_SET_IFM2_BASE0, NPU_SET_IFM2_REGION, NPU_SET_IFM2_WIDTH0_M1,
                     NPU_SET_IFM2_PRECISION, NPU_SET_IFM2_ZERO_POINT);
}

npu_tensor npu_result(const npu_model *model)
{
    return tensor_at(model, NPU_SET_OFM_BASE0, NPU_SET_OFM_REGION, NPU_SET_OFM_WIDTH0_M1,
                     NPU_SET_OFM_PRECISION, NPU_SET_OFM_ZERO_POINT);
}

/* Offset of an element in its region. A negative sum wraps to a huge offset, outside any region. */
static uint64_t address_of(const npu_tensor *tensor, uint32_t y, uint32_t x, uint32_t c)
{
    uint32_t tile = 0;
    if (x >= tensor->left_width) {
        tile = 1;
        x -= tensor->left_width;
    }
    const uint32_t upper = tile == 0 ? tensor->left_height : tensor->right_height;
    if (y >= upper) {
        tile += 2;
        y -= upper;
    }
    uint64_t address = tensor->tile_addresses[tile] + (uint64_t)(tensor->row_stride * (int64_t)y);
    if (tensor->in_bricks) {
        address += (uint64_t)(tensor->brick_stride * (int64_t)(c / 16));
        address += ((uint64_t)x * 16 + c % 16) * tensor->element_bytes;
    } else {
        address += (uint64_t)(tensor->column_stride * (int64_t)x);
        address += (uint64_t)c * tensor->element_bytes;
    }
    return address & ADDRESS_BITS;
}

int32_t npu_load(npu_model *model, const npu_tensor *tensor, uint32_t y, uint32_t x, uint32_t c)
{
    const uint8_t *bytes =
        npu_readable(model, tensor->region, address_of(tensor, y, x, c), tensor->element_bytes);
    if (bytes == NULL) {
        return 0;
    }
    switch (tensor->element_bytes) {
    case 1:
        return tensor->has_sign ? (int8_t)bytes[0] : bytes[0];
    case 2: {
        const uint16_t bits = (uint16_t)(bytes[0] | bytes[1] << 8);
        return tensor->has_sign ? (int16_t)bits : bits;
    }
    default:
        return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                         (uint32_t)bytes[3] << 24);
    }
}

void npu_store(npu_model *model, const npu_tensor *tensor, uint32_t y, uint32_t x, uint32_t c,
               int32_t value)
{
    uint8_t *bytes =
        npu_writable(model, tensor->region, address_of(tensor, y, x, c), tensor->element_bytes);
    if (bytes != NULL) {
        for (uint32_t i = 0; i < tensor->element_bytes; i++) {
            bytes[i] = (uint8_t)((uint32_t)value >> 8 * i);
        }
    }
}
