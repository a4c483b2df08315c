/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_pooling.c -- largest element or mean of windows, and sums over channels.
 */
#include "npu_parts.h"

enum { POOL_MAX = 0, POOL_AVERAGE = 1, POOL_SUM_OF_CHANNELS = 2 };

typedef struct {
    int64_t sum;
    int64_t largest;
    uint32_t count; /* elements that are no padding */
} window_sums;

static window_sums sums_of_window(npu_model *model, const npu_tensor *input,
                                  const npu_window *window, uint32_t oy, uint32_t ox, uint32_t c)
{
    window_sums sums = {0, INT64_MIN, 0};
    for (uint32_t ky = 0; ky < window->height; ky++) {
        for (uint32_t kx = 0; kx < window->width; kx++) {
            uint32_t y, x;
            if (npu_window_pixel(window, oy, ox, ky, kx, &y, &x)) {
                const int64_t value = (int64_t)npu_load(model, input, y, x, c) - input->zero_point;
                sums.sum += value;
                sums.largest = value > sums.largest ? value : sums.largest;
                sums.count++;
            }
        }
    }
    return sums;
}

static int64_t sum_of_channels(npu_model *model, const npu_tensor *input, uint32_t y, uint32_t x)
{
    int64_t sum = 0;
    for (uint32_t c = 0; c <= model->short_registers[NPU_SET_IFM_DEPTH_M1]; c++) {
        sum += (int64_t)npu_load(model, input, y, x, c) - input->zero_point;
    }
    return sum;
}

/* With padding, windows at the edges have fewer elements: the device divides by what each one has.
 */
static bool is_padded(const npu_model *model)
{
    const uint16_t *registers = model->short_registers;
    return (registers[NPU_SET_IFM_PAD_TOP] | registers[NPU_SET_IFM_PAD_LEFT] |
            registers[NPU_SET_IFM_PAD_RIGHT] | registers[NPU_SET_IFM_PAD_BOTTOM]) != 0;
}

static int64_t pooled(npu_model *model, uint32_t mode, const npu_tensor *input,
                      const npu_window *window, uint32_t y, uint32_t x, uint32_t c)
{
    const bool is_global = (model->short_registers[NPU_SET_OFM_PRECISION] & 0x100U) != 0;
    const npu_rounding rounding = npu_result_rounding(model);
    npu_scale scale = npu_scale_of(model->long_registers[NPU_SET_OFM_SCALE]);
    if (mode == POOL_SUM_OF_CHANNELS) {
        const int64_t sum = sum_of_channels(model, input, y, x);
        return is_global ? npu_rescale(sum, scale, rounding) : sum;
    }
    const window_sums sums = sums_of_window(model, input, window, y, x, c);
    if (mode == POOL_MAX) {
        return sums.largest;
    }
    if (!is_global || is_padded(model)) {
        scale = npu_mean_scale(sums.count == 0 ? 1 : sums.count);
    }
    return npu_rescale(sums.sum, scale, rounding);
}

void npu_pool(npu_model *model, uint32_t mode)
{
    const npu_tensor input = npu_input(model);
    const npu_tensor result = npu_result(model);
    const npu_window window = npu_window_of(model);
    const uint64_t steps = mode == POOL_SUM_OF_CHANNELS
                               ? model->short_registers[NPU_SET_IFM_DEPTH_M1] + 1U
                               : (uint64_t)window.height * window.width;
    if (mode > POOL_SUM_OF_CHANNELS) {
        npu_fail(model, NPU_NOT_MODELLED, 0, NPU_OP_POOL);
    }
    for (uint32_t y = 0; y <= model->short_registers[NPU_SET_OFM_HEIGHT_M1]; y++) {
        for (uint32_t x = 0; x <= model->short_registers[NPU_SET_OFM_WIDTH_M1]; x++) {
            for (uint32_t c = 0; c <= model->short_registers[NPU_SET_OFM_DEPTH_M1]; c++) {
                npu_spend(model, steps + 1);
                if (npu_failed(model)) {
                    return;
                }
                npu_finish(model, &result, y, x, c, pooled(model, mode, &input, &window, y, x, c));
            }
        }
    }
}
