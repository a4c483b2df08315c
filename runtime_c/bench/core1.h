/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1.h -- the second core in the test firmware of models with steps on it.
 */
#ifndef CG_BENCH_CORE1_H
#define CG_BENCH_CORE1_H

#include <stdint.h>

#include "cg_link.h"

/* core1.c: has core 1 begin to wait for steps. */
void cg_core1_start(void);
/* Entry of core 1, where cg_board.core1 sends it: it waits for steps and runs them. */
void cg_core1_follow(void);
uint8_t *cg_core1_stack_top(void);
extern cg_link_fault cg_core1_fault;
extern uint32_t cg_core1_fault_step;

/* core1_*.c of the family: lets core 1 go from its reset on, with what it is to start with: its
 * vector table, or its first instruction. */
void cg_core1_release(uint32_t registers, uint32_t start);
/* On core 0: notes what the MPU opens to the model. */
void cg_core1_see_mpu(void);
/* On core 1: opens that, and nothing else, to all that runs there. */
void cg_core1_follow_mpu(const void *given);

#endif /* CG_BENCH_CORE1_H */
