/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_device_copy.h -- a value from one memory into another: the step DEVICE_COPY.
 *
 * The core copies, by memcpy, unless the code is compiled with CG_DEVICE_COPY_HOOK defined: then
 * the application's cg_device_copy_hook does. Without the hook nothing of it is in the image.
 */
#ifndef CG_DEVICE_COPY_H
#define CG_DEVICE_COPY_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef CG_DEVICE_COPY_HOOK
/* A name of its own: the one without the hook may be in the same image, from another folder. */
#define cg_device_copy cg_device_copy_by_hook
#endif

/*
 * The `bytes` from `input` on are then also at `output`. The two do not overlap: they lie in
 * different memories, or one of them is the caller's. No alignment is assumed.
 */
void cg_device_copy(const void *input, void *output, int32_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* CG_DEVICE_COPY_H */
