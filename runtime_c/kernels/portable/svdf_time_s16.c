/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svdf_time_s16.c -- SVDF with a window of int16: what it gives, bit-equal to tflite-micro.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_families.h"

void cg_svdf_time_s16(const cg_svdf_params *params, const cg_s16 *window, const cg_s16 *weights,
                      const int32_t *bias, int8_t *output)
{
    const int32_t filters = params->filters;
    for (int32_t row = 0; row < params->rows; row++) {
        const int32_t *b = bias;
        for (int32_t first = 0; first < filters; first += params->rank) {
            uint32_t sum = (uint32_t)*b++;
            for (int32_t time = 0; time < params->length; time++) {
                const cg_s16 *const x = &window[(((time * params->rows) + row) * filters) + first];
                const cg_s16 *const w = &weights[(time * filters) + first];
                for (int32_t i = 0; i < params->rank; i++) {
                    sum += (uint32_t)(x[i] * w[i]);
                }
            }
            *output++ = cg_store_s8((int32_t)sum, params->multiplier, params->shift, params->zero,
                                    -128, 127);
        }
    }
}
