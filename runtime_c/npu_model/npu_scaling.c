/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_scaling.c -- from an accumulator to a stored element: scale, rounding, zero point, clipping,
 * lookup table.
 */
#include "cg_sigmoid_s16.h"
#include "npu_parts.h"

#define TANH      3U
#define SIGMOID   4U
#define LUT_FIRST 16U
#define LUT_SLOT  256U

#define CURVE_LIMIT ((int64_t)1 << 24) /* far behind where both functions are flat */
#define CLIP_UINT8  2U                 /* of the bits that force the range of clipping */

/* 96 bits of value x multiplier, by halves: C11 has no wider type than 64 bits. */
typedef struct {
    int64_t high; /* of 2^32 */
    uint32_t low;
} product96;

static product96 multiply(int64_t value, uint32_t multiplier)
{
    const uint64_t low = (uint64_t)((uint32_t)value) * multiplier;
    const int64_t high = (value >> 32) * (int64_t)multiplier + (int64_t)(low >> 32);
    return (product96){high, (uint32_t)low};
}

/* Adds 2^(shift - 1) and divides by 2^shift, towards minus infinity. */
static int64_t shifted_half_up(product96 product, uint32_t shift)
{
    if (shift == 0) {
        return (int64_t)(((uint64_t)product.high << 32) | product.low);
    }
    if (shift <= 32) {
        const uint64_t low = (uint64_t)product.low + ((uint64_t)1 << (shift - 1));
        const int64_t high = product.high + (int64_t)(low >> 32);
        const uint64_t kept = (uint64_t)(uint32_t)low >> shift;
        return (int64_t)(((uint64_t)high << (32 - shift)) | kept);
    }
    return (product.high + ((int64_t)1 << (shift - 33))) >> (shift - 32);
}

/* Halves away from zero. */
static int64_t divided(int64_t value, uint32_t shift)
{
    if (shift == 0) {
        return value;
    }
    const int64_t half = (int64_t)1 << (shift - 1);
    return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

/*
 * value x multiplier / 2^shift. Rounding twice is TensorFlow Lite's: to the upper 32 bits of the
 * doubled product first, halves up, and then by what is left of the shift, halves away from zero.
 */
int64_t npu_rescale(int64_t value, npu_scale scale, npu_rounding rounding)
{
    switch (rounding) {
    case NPU_ROUND_UP:
        return shifted_half_up(multiply(value, scale.multiplier), scale.shift);
    case NPU_ROUND_TOWARDS_ZERO: {
        const product96 product = multiply(value < 0 ? -value : value, scale.multiplier);
        const uint64_t whole = scale.shift <= 32
                                   ? (((uint64_t)product.high << 32) | product.low) >> scale.shift
                                   : (uint64_t)product.high >> (scale.shift - 32);
        return value < 0 ? -(int64_t)whole : (int64_t)whole;
    }
    default:
        break;
    }
    if (scale.shift <= 31) {
        return shifted_half_up(multiply(value, scale.multiplier), scale.shift);
    }
    const npu_scale doubled = {scale.multiplier, 31};
    const int64_t high = shifted_half_up(multiply(value, doubled.multiplier), doubled.shift);
    return divided(high, scale.shift - 31);
}

npu_scale npu_scale_of(uint64_t reg)
{
    return (npu_scale){(uint32_t)reg, (uint32_t)(reg >> 32) & 63U};
}

/* 1 / elements as the device computes it where padding changes how many elements a window has. */
npu_scale npu_mean_scale(uint32_t elements)
{
    uint32_t bits = 0;
    while (elements - 1 >= (uint32_t)1 << bits) {
        bits++;
    }
    const uint64_t numerator = ((uint64_t)1 << (31 + bits)) + ((uint64_t)1 << bits);
    return (npu_scale){(uint32_t)(numerator / elements), 31 + bits};
}

npu_rounding npu_result_rounding(const npu_model *model)
{
    return (npu_rounding)(model->short_registers[NPU_SET_OFM_PRECISION] >> 14 & 3U);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static uint32_t clip_of(const npu_model *model)
{
    return model->short_registers[NPU_SET_ACTIVATION] >> 12 & 7U;
}

static int32_t table_byte(const npu_model *model, uint32_t slot, uint32_t index, uint32_t bytes)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        bits |= (uint32_t)model->lut[(slot * LUT_SLOT + index * bytes + i) % NPU_LUT_BYTES]
                << 8 * i;
    }
    return (int32_t)bits;
}

/* 512 pieces of a function, each a base (low half) and a slope (high half) over 128 steps. */
static int32_t interpolated(const npu_model *model, uint32_t slot, int32_t value)
{
    const uint32_t offset = (uint32_t)(value + 32768);
    const uint32_t piece = (uint32_t)table_byte(model, slot, offset >> 7, 4);
    const int32_t base = (int16_t)(piece & 0xffffU);
    const int32_t slope = (int16_t)(piece >> 16);
    return base + ((slope * (int32_t)(offset & 127U) + 64) >> 7);
}

/*
 * The device's own functions of 16 bits, of numbers in units of 1 / (3 x 4096). Its tables are not
 * published: these are TensorFlow Lite's, for which Vela chooses those units.
 */
static int64_t curve(uint32_t function, int64_t value)
{
    const int32_t scaled = (int32_t)clamp(value, -CURVE_LIMIT, CURVE_LIMIT);
    return function == TANH ? cg_tanh_s16(npu_sigmoids, scaled)
                            : cg_sigmoid_s16(npu_sigmoids, scaled);
}

static int64_t clipped(const npu_model *model, const npu_tensor *result, bool has_sign,
                       int64_t value)
{
    const uint16_t low = model->short_registers[NPU_SET_ACTIVATION_MIN];
    const uint16_t high = model->short_registers[NPU_SET_ACTIVATION_MAX];
    if (result->element_bytes == 4 && clip_of(model) == 0) {
        return clamp(value, INT32_MIN, INT32_MAX);
    }
    return has_sign ? clamp(value, (int16_t)low, (int16_t)high) : clamp(value, low, high);
}

/* Adds the zero point, clips, looks up and stores one element of the result. */
void npu_finish(npu_model *model, const npu_tensor *result, uint32_t y, uint32_t x, uint32_t c,
                int64_t scaled)
{
    const uint32_t function = model->short_registers[NPU_SET_ACTIVATION] & 31U;
    const uint32_t clip = clip_of(model);
    const bool has_sign = clip == 0 ? result->has_sign : clip != CLIP_UINT8;
    const bool is_curve = function == TANH || function == SIGMOID;
    int64_t value = scaled + result->zero_point;
    if (is_curve && result->element_bytes == 2) {
        value = curve(function, value); /* before it is clipped: its argument has more bits */
    } else if (function != 0 && function < LUT_FIRST) {
        npu_fail(model, NPU_NOT_MODELLED, 0, function);
    }
    value = clipped(model, result, has_sign, value);
    if (function >= LUT_FIRST && result->element_bytes == 2) {
        value = interpolated(model, function - LUT_FIRST, (int32_t)value);
    } else if (function >= LUT_FIRST) {
        const uint32_t index = (uint32_t)(value + (has_sign ? 128 : 0)) & 255U;
        value = table_byte(model, function - LUT_FIRST, index, result->element_bytes);
    }
    npu_store(model, result, y, x, c, (int32_t)value);
}
