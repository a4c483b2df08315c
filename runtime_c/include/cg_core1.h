/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_core1.h -- steps on the second core of a chip. The entry function, on core 0, posts such a
 * step and waits until core 1 has done it: one step at a time, nothing runs beside it.
 */
#ifndef CG_CORE1_H
#define CG_CORE1_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*cg_core1_step)(const void *given);

/* `step` is NULL while core 1 waits; core 0 writes it to post, core 1 when the step is done. */
typedef struct {
    const void *given;
    cg_core1_step step;
} cg_core1_mailbox_type;

extern volatile cg_core1_mailbox_type cg_core1_mailbox;

/* On core 0: has core 1 call `step` with `given`, returns when that is done: never, if core 1 was
 * not started. */
void cg_core1_run(cg_core1_step step, const void *given);

#ifdef __cplusplus
}
#endif

#endif /* CG_CORE1_H */
