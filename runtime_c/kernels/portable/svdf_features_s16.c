/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svdf_features_s16.c -- SVDF with a window of int16: the frame of an input, bit-equal to
 * tflite-micro.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

void cg_svdf_features_s16(const cg_svdf_params *params, const int8_t *rows, const int8_t *weights,
                          cg_s16 *frame)
{
    for (int32_t row = 0; row < params->rows; row++) {
        const int8_t *w = weights;
        for (int32_t filter = 0; filter < params->filters; filter++) {
            uint32_t sum = 0;
            for (int32_t i = 0; i < params->length; i++) {
                sum += (uint32_t)((rows[i] - params->zero) * *w++);
            }
            *frame++ = cg_store_s16((int32_t)sum, params->multiplier, params->shift, -32768, 32767);
        }
        rows += params->length;
    }
}
