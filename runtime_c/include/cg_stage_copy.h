/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_stage_copy.h -- linked constants into faster memory, in front of the step that reads them.
 *
 * The core copies, at once, unless the code is compiled with CG_STAGE_HOOKS defined: then the
 * application's cg_stage_hook may begin the copy and return, and cg_stage_wait_hook waits. A copy
 * is begun one step before it is needed, so it can run beside that step. Without the hooks nothing
 * of them is in the image.
 */
#ifndef CG_STAGE_COPY_H
#define CG_STAGE_COPY_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef CG_STAGE_HOOKS
#define CG_STAGE_COPY(to, from, bytes) cg_stage_hook(to, from, bytes)
#define CG_STAGE_WAIT()                cg_stage_wait_hook()
#else
#define CG_STAGE_COPY(to, from, bytes) cg_stage_copy(to, from, bytes)
#define CG_STAGE_WAIT()                ((void)0)
#endif

/* The `bytes` from `from` on are then also at `to`; the two do not overlap. Any alignment. */
void cg_stage_copy(void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* CG_STAGE_COPY_H */
