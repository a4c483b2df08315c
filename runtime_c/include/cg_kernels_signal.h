/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_signal.h -- kernels of an audio front end.
 */
#ifndef CG_KERNELS_SIGNAL_H
#define CG_KERNELS_SIGNAL_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` samples in frames of `size`; each product is shifted right, rounded down, and saturated.
 * In place of the frames. */
void cg_signal_window(const int16_t *frames, const int16_t *window, int16_t *output, int32_t count,
                      int32_t size, int32_t shift);

#ifdef __cplusplus
}
#endif

#endif
