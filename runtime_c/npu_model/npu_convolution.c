/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_convolution.c -- windows over an input; convolution of all channels or of each by itself.
 */
#include "npu_parts.h"

#define CHANNEL_BYTES 10U /* bias of 40 bits, multiplier of 32, shift of 6 */

npu_window npu_window_of(const npu_model *model)
{
    const uint16_t *registers = model->short_registers;
    const uint16_t stride = registers[NPU_SET_KERNEL_STRIDE];
    const uint16_t upscale = registers[NPU_SET_IFM_UPSCALE] & 3U;
    npu_window window = {
        .dilated_height = registers[NPU_SET_KERNEL_HEIGHT_M1] + 1U,
        .dilated_width = registers[NPU_SET_KERNEL_WIDTH_M1] + 1U,
        .stride_x = 1 + (stride & 1U) + (stride >> 6 & 7U) * 2,
        .stride_y = 1 + (stride >> 1 & 1U) + (stride >> 9 & 7U) * 2,
        .dilation_x = 1 + (stride >> 3 & 1U),
        .dilation_y = 1 + (stride >> 4 & 1U),
        .pad_top = registers[NPU_SET_IFM_PAD_TOP] & 127U,
        .pad_left = registers[NPU_SET_IFM_PAD_LEFT] & 127U,
        .upscale = upscale == 0 ? 1 : 2,
        .zeros_between = upscale == 2,
    };
    const uint32_t rows =
        registers[NPU_SET_OFM_HEIGHT_M1] * window.stride_y + window.dilated_height;
    const uint32_t columns =
        registers[NPU_SET_OFM_WIDTH_M1] * window.stride_x + window.dilated_width;
    const uint32_t pad_y = window.pad_top + (registers[NPU_SET_IFM_PAD_BOTTOM] & 255U);
    const uint32_t pad_x = window.pad_left + (registers[NPU_SET_IFM_PAD_RIGHT] & 255U);
    window.height = (window.dilated_height - 1) / window.dilation_y + 1;
    window.width = (window.dilated_width - 1) / window.dilation_x + 1;
    window.input_height = rows > pad_y ? rows - pad_y : 0;
    window.input_width = columns > pad_x ? columns - pad_x : 0;
    return window;
}

/* Which pixel of the stored input an element of a window reads; false: padding or a zero. */
bool npu_window_pixel(const npu_window *window, uint32_t oy, uint32_t ox, uint32_t ky, uint32_t kx,
                      uint32_t *y, uint32_t *x)
{
    const uint32_t row = oy * window->stride_y + ky * window->dilation_y - window->pad_top;
    const uint32_t column = ox * window->stride_x + kx * window->dilation_x - window->pad_left;
    if (row >= window->input_height || column >= window->input_width) {
        return false; /* rows above and columns to the left have wrapped to huge ones */
    }
    if (window->zeros_between && ((row | column) & 1U) != 0) {
        return false;
    }
    *y = row / window->upscale;
    *x = column / window->upscale;
    return true;
}

typedef struct {
    int64_t bias;
    npu_scale scale;
} channel_scale;

static channel_scale scale_of_channel(npu_model *model, uint32_t channel)
{
    const uint32_t cores = model->device->cores;
    const uint32_t base = channel % cores == 0 ? NPU_SET_SCALE_BASE : NPU_SET_SCALE1_BASE;
    const uint64_t offset = (uint64_t)(channel / cores) * CHANNEL_BYTES;
    const uint8_t *bytes = npu_readable(model, model->short_registers[NPU_SET_SCALE_REGION],
                                        model->long_registers[base] + offset, CHANNEL_BYTES);
    if (bytes == NULL || offset + CHANNEL_BYTES > (model->long_registers[base + 1] & 0xffffffffU)) {
        npu_fail(model, NPU_OUTSIDE_REGION, model->short_registers[NPU_SET_SCALE_REGION],
                 model->long_registers[base] + offset);
        return (channel_scale){0, {0, 0}};
    }
    uint64_t bias = 0;
    uint32_t multiplier = 0;
    for (uint32_t i = 0; i < 5; i++) {
        bias |= (uint64_t)bytes[i] << 8 * i;
    }
    for (uint32_t i = 0; i < 4; i++) {
        multiplier |= (uint32_t)bytes[5 + i] << 8 * i;
    }
    const uint64_t sign = (uint64_t)1 << 39;
    return (channel_scale){(int64_t)((bias ^ sign) - sign), {multiplier, bytes[9] & 63U}};
}

/* One kernel at one place of the input: channels [input_from, input_from + kernel depth). */
static int64_t dot_product(npu_model *model, const npu_tensor *input, const npu_window *window,
                           const int16_t *kernel, uint32_t oy, uint32_t ox, uint32_t input_from,
                           uint32_t depth)
{
    int64_t sum = 0;
    for (uint32_t ky = 0; ky < window->height; ky++) {
        for (uint32_t kx = 0; kx < window->width; kx++) {
            const int16_t *weights = kernel + ((size_t)ky * window->width + kx) * depth;
            uint32_t y, x;
            if (!npu_window_pixel(window, oy, ox, ky, kx, &y, &x)) {
                continue;
            }
            for (uint32_t c = 0; c < depth; c++) {
                sum += (int64_t)weights[c] *
                       (npu_load(model, input, y, x, input_from + c) - input->zero_point);
            }
        }
    }
    return sum;
}

static void convolve_channel(npu_model *model, const npu_window *window, uint32_t channel,
                             bool depthwise, uint32_t depth)
{
    const npu_tensor input = npu_input(model);
    const npu_tensor result = npu_result(model);
    const npu_rounding rounding = npu_result_rounding(model);
    const bool is_global = (model->short_registers[NPU_SET_OFM_PRECISION] & 0x100U) != 0;
    channel_scale scale = scale_of_channel(model, channel);
    const size_t kernel_size = (size_t)window->height * window->width * depth;
    const int16_t *kernel = model->work.weights + channel * kernel_size;
    if (is_global) {
        scale.scale = npu_scale_of(model->long_registers[NPU_SET_OFM_SCALE]);
    }
    for (uint32_t y = 0; y <= model->short_registers[NPU_SET_OFM_HEIGHT_M1]; y++) {
        for (uint32_t x = 0; x <= model->short_registers[NPU_SET_OFM_WIDTH_M1]; x++) {
            const int64_t sum =
                dot_product(model, &input, window, kernel, y, x, depthwise ? channel : 0, depth);
            npu_finish(model, &result, y, x, channel,
                       npu_rescale(sum + scale.bias, scale.scale, rounding));
            npu_spend(model, kernel_size + 1);
            if (npu_failed(model)) {
                return;
            }
        }
    }
}

void npu_convolve(npu_model *model, bool depthwise)
{
    const npu_window window = npu_window_of(model);
    const uint32_t depth = depthwise ? 1 : model->short_registers[NPU_SET_IFM_DEPTH_M1] + 1U;
    const uint32_t channels = model->short_registers[NPU_SET_OFM_DEPTH_M1] + 1U;
    const npu_kernel_shape shape = {window.height, window.width, depth, channels, depthwise};
    npu_spend(model, (uint64_t)window.height * window.width * depth * channels);
    if (npu_failed(model) || !npu_read_weights(model, &shape)) {
        return;
    }
    for (uint32_t channel = 0; channel < channels && !npu_failed(model); channel++) {
        convolve_channel(model, &window, channel, depthwise, depth);
    }
}
