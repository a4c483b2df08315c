/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_window.c -- SIGNAL_WINDOW, int16: frames times a window.
 */
#include "cg_fixed_point.h"
#include "cg_kernels_signal.h"

void cg_signal_window(const int16_t *frames, const int16_t *window, int16_t *output, int32_t count,
                      int32_t size, int32_t shift)
{
    int32_t place = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t product = ((int32_t)frames[i] * window[place]) >> shift;
        output[i] = (int16_t)cg_clamp_s32(product, INT16_MIN, INT16_MAX);
        place = ((place + 1) == size) ? 0 : (place + 1);
    }
}
