/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_core1.h -- steps on the second core of a chip. The entry function, on core 0, posts such a
 * step and waits until core 1 has done it: one step at a time, nothing runs beside it.
 *
 * An application that calls a model with such steps starts core 1, before the first call, with a
 * stack of its own, on cg_core1_main: after .bss was cleared, for the mailbox lies there. Both
 * cores have to see pools, constants, code and the mailbox at the same addresses, uncached or
 * coherent. Models share the mailbox: entry functions are called from one context of core 0 at a
 * time.
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

/* On core 1: runs what is posted. Needs a stack for its own frame and the deepest step. */
void cg_core1_main(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif /* CG_CORE1_H */
