/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1.c -- see cg_core1.h. A barrier stands between the data of a step and the word that tells of
 * it, on both ways. A core that waits sleeps in WFE; the event of a SEV that comes between its look
 * and its WFE is kept, so none is missed. Elsewhere (two threads of a test) waiting is looking.
 */
#include "cg_core1.h"

volatile cg_core1_mailbox_type cg_core1_mailbox;

/* All accesses before come before all behind, for the other core too. */
static inline void order_accesses(void)
{
#if defined(__arm__)
    __asm__ volatile("dmb" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Once the word is written, wakes the other core. */
static inline void tell(void)
{
#if defined(__arm__)
    __asm__ volatile("dsb\n\tsev" ::: "memory");
#endif
}

static inline void wait(void)
{
#if defined(__arm__)
    __asm__ volatile("wfe" ::: "memory");
#endif
}

void cg_core1_run(cg_core1_step step, const void *given)
{
    cg_core1_mailbox.given = given;
    order_accesses();
    cg_core1_mailbox.step = step;
    tell();
    while (cg_core1_mailbox.step != NULL) {
        wait();
    }
    order_accesses();
}

void cg_core1_main(void)
{
    for (;;) {
        const cg_core1_step step = cg_core1_mailbox.step;
        if (step == NULL) {
            wait();
        } else {
            order_accesses();
            step(cg_core1_mailbox.given);
            order_accesses();
            cg_core1_mailbox.step = NULL;
            tell();
        }
    }
}
