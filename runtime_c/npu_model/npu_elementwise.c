/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_elementwise.c -- one result element from one element of each input.
 */
#include "npu_parts.h"

enum {
    ELEMENT_MUL = 0,
    ELEMENT_ADD = 1,
    ELEMENT_SUB = 2,
    ELEMENT_MIN = 3,
    ELEMENT_MAX = 4,
    ELEMENT_LRELU = 5,
    ELEMENT_ABS = 6,
    ELEMENT_CLZ = 7,
    ELEMENT_SHR = 8,
    ELEMENT_SHL = 9
};

/*
 * Which operand of a sum has a scale of 32 bits, of the smaller input scale by twice the larger.
 * The other one has one half, as in TensorFlow Lite, where both are shifted left first.
 */
enum { SCALE_BOTH = 0, SCALE_FIRST = 1, SCALE_SECOND = 2 };

enum { BROADCAST_H = 1, BROADCAST_W = 2, BROADCAST_C = 4, SWAPPED = 64, SCALAR = 128 };

typedef struct {
    uint32_t mode;
    npu_tensor first, second, result;
    uint16_t broadcast;
    npu_rounding rounding;
    bool is_scaled; /* the result is, by OFM_SCALE */
    npu_scale scale;
} elementwise;

static bool is_unary(uint32_t mode)
{
    return mode == ELEMENT_LRELU || mode == ELEMENT_ABS || mode == ELEMENT_CLZ;
}

static int64_t second_operand(npu_model *model, const elementwise *op, uint32_t y, uint32_t x,
                              uint32_t c)
{
    if (op->broadcast & SCALAR) {
        const uint16_t scalar = model->short_registers[NPU_SET_IFM2_SCALAR];
        const int64_t value = op->second.has_sign ? (int16_t)scalar : (int64_t)scalar;
        return value - op->second.zero_point;
    }
    const uint32_t row = op->broadcast & BROADCAST_H ? 0 : y;
    const uint32_t column = op->broadcast & BROADCAST_W ? 0 : x;
    const uint32_t channel = op->broadcast & BROADCAST_C ? 0 : c;
    return (int64_t)npu_load(model, &op->second, row, column, channel) - op->second.zero_point;
}

static int64_t shifted_right(int64_t value, uint32_t shift, npu_rounding rounding)
{
    return npu_rescale(value, (npu_scale){1, shift & 63U}, rounding);
}

static int64_t leading_zeros(int64_t value)
{
    int64_t zeros = 0;
    for (uint32_t bit = 32; bit > 0 && ((uint32_t)value >> (bit - 1) & 1U) == 0; bit--) {
        zeros++;
    }
    return zeros;
}

/* Operands of a sum, at the precision in which the device adds them. */
static void scale_operands(const npu_model *model, const elementwise *op, int64_t *a, int64_t *b)
{
    const uint32_t mode = model->short_registers[NPU_SET_IFM_PRECISION] >> 8 & 3U;
    const npu_scale first = npu_scale_of(model->long_registers[NPU_SET_OPA_SCALE]);
    const npu_scale second = npu_scale_of(model->long_registers[NPU_SET_OPB_SCALE]);
    const uint32_t widening = op->first.element_bytes == 1 ? 20 : 15;
    const npu_rounding rounding =
        (npu_rounding)(model->short_registers[NPU_SET_IFM_PRECISION] >> 14 & 3U);
    const npu_scale widened = {first.multiplier, first.shift + widening};
    switch (mode) {
    case SCALE_FIRST:
        *a = npu_rescale(*a * ((int64_t)1 << widening), widened, rounding);
        *b *= (int64_t)1 << (widening - 1);
        break;
    case SCALE_SECOND:
        *b = npu_rescale(*b * ((int64_t)1 << widening), widened, rounding);
        *a *= (int64_t)1 << (widening - 1);
        break;
    default:
        *a *= (int64_t)(first.multiplier & 0xffffU);
        *b *= (int64_t)(second.multiplier & 0xffffU);
        break;
    }
}

static int64_t sum_or_difference(const npu_model *model, const elementwise *op, int64_t a,
                                 int64_t b)
{
    scale_operands(model, op, &a, &b);
    return op->mode == ELEMENT_ADD ? a + b : a - b;
}

static int64_t computed(npu_model *model, const elementwise *op, int64_t a, int64_t b)
{
    int64_t value;
    switch (op->mode) {
    case ELEMENT_MUL:
        value = a * b;
        break;
    case ELEMENT_ADD:
    case ELEMENT_SUB:
        value = sum_or_difference(model, op, a, b);
        break;
    case ELEMENT_MIN:
        return a < b ? a : b;
    case ELEMENT_MAX:
        return a > b ? a : b;
    case ELEMENT_LRELU:
        return a >= 0 ? a : npu_rescale(a, op->scale, op->rounding);
    case ELEMENT_ABS:
        value = a < 0 ? -a : a;
        break;
    case ELEMENT_CLZ:
        return leading_zeros(a);
    case ELEMENT_SHR:
        return shifted_right(a, (uint32_t)b, op->rounding);
    default:
        return (int32_t)((uint32_t)a << ((uint32_t)b & 31U));
    }
    return op->is_scaled ? npu_rescale(value, op->scale, op->rounding) : value;
}

void npu_elementwise(npu_model *model, uint32_t mode)
{
    elementwise op = {
        .mode = mode,
        .first = npu_input(model),
        .second = npu_second_input(model),
        .result = npu_result(model),
        .broadcast = model->short_registers[NPU_SET_IFM2_BROADCAST],
        .rounding = npu_result_rounding(model),
        .is_scaled = (model->short_registers[NPU_SET_OFM_PRECISION] & 0x100U) != 0,
        .scale = npu_scale_of(model->long_registers[NPU_SET_OFM_SCALE]),
    };
    if (op.first.element_bytes == 4) {
        op.scale.multiplier = 1; /* 32-bit inputs are only shifted */
    }
    if (mode > ELEMENT_SHL) {
        npu_fail(model, NPU_NOT_MODELLED, 0, NPU_OP_ELEMENTWISE);
    }
    for (uint32_t y = 0; y <= model->short_registers[NPU_SET_OFM_HEIGHT_M1]; y++) {
        for (uint32_t x = 0; x <= model->short_registers[NPU_SET_OFM_WIDTH_M1]; x++) {
            for (uint32_t c = 0; c <= model->short_registers[NPU_SET_OFM_DEPTH_M1]; c++) {
                npu_spend(model, 2);
                if (npu_failed(model)) {
                    return;
                }
                const int64_t a =
                    (int64_t)npu_load(model, &op.first, y, x, c) - op.first.zero_point;
                const int64_t b = is_unary(mode) ? 0 : second_operand(model, &op, y, x, c);
                const bool swapped = (op.broadcast & SWAPPED) != 0 && !is_unary(mode);
                npu_finish(model, &op.result, y, x, c,
                           computed(model, &op, swapped ? b : a, swapped ? a : b));
            }
        }
    }
}
