/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid_quantize.c -- float32 to int8 by the range of the values: what dynamic-range layers do
 * with their image. Source of the rule: TFLite's portable_tensor_utils.cc.
 */
#include "cg_kernels_hybrid.h"
#include "cg_round_even.h"

/* Integer of real zero, for a range with low < high that holds it. */
static int32_t zero_of(double low, double high, double step)
{
    const double from_low = -128.0 - (low / step);
    const double from_high = 127.0 - (high / step);
    /* Errors are 128 + |low / step| and 127 + |high / step|; low is not above 0, high not below. */
    const bool is_low = (128.0 - (low / step)) < (127.0 + (high / step));
    const double zero = is_low ? from_low : from_high;
    const int32_t whole = (int32_t)zero; /* between -129 and 128 */
    const double rest = zero - (double)whole;
    const int32_t up = (rest >= 0.5) ? 1 : 0;
    const int32_t down = (rest <= -0.5) ? 1 : 0;
    return cg_clamp_s32(whole + up - down, -128, 127);
}

cg_hybrid_scale cg_hybrid_quantize(const cg_f32 *input, int32_t count, int32_t asymmetric,
                                   int8_t *output)
{
    cg_hybrid_scale found = {1.0f, 0};
    float low = 0.0f;
    float high = 0.0f;
    for (int32_t i = 0; i < count; i++) {
        const float x = input[i];
        low = (x < low) ? x : low;
        high = (x > high) ? x : high;
    }
    float inverse = 0.0f;
    if (low < high) {
        if (asymmetric != 0) {
            const double step = ((double)high - (double)low) / 255.0;
            found.zero = zero_of((double)low, (double)high, step);
            found.scale = (float)step;
            inverse = 1.0f / found.scale;
        } else {
            const float reach = (-low > high) ? -low : high;
            found.scale = reach / 127.0f;
            inverse = 127.0f / reach;
        }
    }
    const int32_t least = (asymmetric != 0) ? -128 : -127;
    const float zero = (float)found.zero;
    for (int32_t i = 0; i < count; i++) {
        const float units = zero + cg_rounded_f32(input[i] * inverse);
        output[i] = (int8_t)cg_quantize(units, 1.0f, 0, least, 127);
    }
    return found;
}
