/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1.c -- see cg_core1.h. A barrier stands between the data of a step and the word that tells of
 * it, on both ways. A core that waits sleeps in WFE; the event of a SEV that comes between its look
 * and its WFE is kept, so none is missed. Cores without WFE and SEV call the application.
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
static inline void wake(void)
{
#if defined(__arm__)
    __asm__ volatile("dsb\n\tsev" ::: "memory");
#else
    order_accesses();
    cg_core1_wake();
#endif
}

static inline void sleep_until_woken(void)
{
#if defined(__arm__)
    __asm__ volatile("wfe" ::: "memory");
#else
    cg_core1_sleep();
#endif
}

void cg_core1_run(cg_core1_step step, const void *given)
{
    cg_core1_mailbox.given = given;
    order_accesses();
    cg_core1_mailbox.step = step;
    wake();
    while (cg_core1_mailbox.step != NULL) {
        sleep_until_woken();
    }
    order_accesses();
}

void cg_core1_main(void)
{
    for (;;) {
        const cg_core1_step step = cg_core1_mailbox.step;
        if (step == NULL) {
            sleep_until_woken();
        } else {
            order_accesses();
            step(cg_core1_mailbox.given);
            order_accesses();
            cg_core1_mailbox.step = NULL;
            wake();
        }
    }
}
