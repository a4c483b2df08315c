/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_kernels.h -- generated; do not edit. What bare calls of the runtime.
 */
#ifndef BARE_KERNELS_H
#define BARE_KERNELS_H

#include <stdbool.h>

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * cg_kernels -- the portable kernels: parameters, prototypes, contracts.
 *
 * Rules that hold for all of them unless a kernel says otherwise:
 *  - Tensors are dense and row-major: images NHWC, convolution weights OHWI, depthwise weights
 *    1HWO, fully connected weights [O, I]. Extents are positive and counted in elements.
 *  - int8 tensors have any alignment; float tensors, int32 constants and workspaces are aligned
 *    to 4 bytes.
 *  - Arguments are read front to back, so the result may start at or below ("behind") an argument
 *    where the kernel's comment permits it. "In place" below means: the result's address is not
 *    above the argument's. Everything else must not overlap.
 *  - Quantised results are bit-equal to TFLite's reference kernels. Accumulators wrap.
 */

/* ---- element by element --------------------------------------------------------------- */

/* min(max(x, low), high): RELU, RELU6. In place. */
void cg_clamp_f32(float low, float high, const cg_f32 *input, cg_f32 *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* BARE_KERNELS_H */
