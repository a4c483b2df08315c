/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_modes.c -- values of registers that ask an operation for what the model leaves out.
 */
#include "npu_parts.h"

/* Values that a field of a register may have: bit i for value i. */
typedef struct {
    uint16_t code;
    uint8_t shift;
    uint8_t bits;
    uint32_t modelled;
} field;

static const field every_operation[] = {
    {NPU_SET_IFM_PRECISION, 2, 2, 0x7}, /* 8, 16, 32 bits */
    {NPU_SET_IFM_PRECISION, 6, 2, 0x3}, /* rows of pixels, bricks of 16 channels */
    {NPU_SET_IFM_PRECISION, 8, 2, 0x7},     {NPU_SET_IFM_PRECISION, 14, 2, 0x7},
    {NPU_SET_OFM_PRECISION, 1, 2, 0x7},     {NPU_SET_OFM_PRECISION, 6, 2, 0x3},
    {NPU_SET_OFM_PRECISION, 14, 2, 0x7},    {NPU_SET_IFM_UPSCALE, 0, 2, 0x7},
    {NPU_SET_ACTIVATION, 0, 5, 0x00ff0019}, {NPU_SET_ACTIVATION, 12, 3, 0x2d},
    {NPU_SET_ACC_FORMAT, 0, 2, 0x3}, /* whole numbers, not half floats */
};
static const field convolutions[] = {{NPU_SET_KERNEL_STRIDE, 5, 1, 0x1}}; /* parts of 8 x 8 */
static const field two_inputs[] = {{NPU_SET_IFM2_PRECISION, 2, 2, 0x7},
                                   {NPU_SET_IFM2_PRECISION, 6, 2, 0x3}};

static void need(npu_model *model, const field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t mask = (1U << fields[i].bits) - 1U;
        const uint32_t value = (uint32_t)model->short_registers[fields[i].code] >> fields[i].shift;
        if ((fields[i].modelled >> (value & mask) & 1U) == 0) {
            npu_fail(model, NPU_NOT_MODELLED, 0, fields[i].code);
        }
    }
}

/* Fails with the register's code where operation `code` cannot be run as its registers say. */
void npu_check_modes(npu_model *model, uint32_t code)
{
    need(model, every_operation, sizeof every_operation / sizeof *every_operation);
    if (code == NPU_OP_CONV || code == NPU_OP_DEPTHWISE) {
        need(model, convolutions, 1);
    } else if (code == NPU_OP_ELEMENTWISE) {
        need(model, two_inputs, 2);
    }
    if (model->short_registers[NPU_SET_PARALLEL_MODE] + 1U > model->device->cores) {
        npu_fail(model, NPU_NOT_MODELLED, 0, NPU_SET_PARALLEL_MODE); /* of a device of two cores */
    }
}
