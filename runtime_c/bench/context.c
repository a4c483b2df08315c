/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c -- two contexts that take turns: the link (privileged, a stack of its own) and the
 * model (unprivileged, on its stack, so that the MPU closes everything that is not the model's).
 *
 * The core's family switches (cg_core.h). The model gives way at the end of every step of a traced
 * run, before every step of a sandboxed one, and at its end. A fault of the model switches as well,
 * and for good: the link lives on and tells. The switch is no call: the model's stack bound does
 * not see the link.
 */
#include "cg_bench.h"
#include "cg_link.h"
#include "cg_port.h"

uint32_t cg_model_event[2]; /* state, cg_status: written by the model's side */
static uint32_t current_step;
static uint32_t run_flags; /* read by the model's side */
static uint32_t overhead;
cg_link_event cg_event;
uint8_t *volatile cg_bench_stack; /* written by the model's side; NULL: it keeps no account */
uint32_t cg_calibration_ticks;
uint32_t cg_calibration_instructions;

/* ---- on the model's side ---------------------------------------------------------------- */

static void give_way(uint32_t state)
{
    cg_model_event[0] = state;
    cg_core_give_way();
}

void cg_step_begin(uint32_t step)
{
    current_step = step;
    if ((run_flags & CG_LINK_SANDBOXED) != 0) {
        give_way(CG_LINK_BEGUN);
    }
}

void cg_step_end(uint32_t step)
{
    (void)step;
    if ((run_flags & CG_LINK_TRACED) != 0) {
        give_way(CG_LINK_PAUSED);
    }
}

/* ---- on the link's side ----------------------------------------------------------------- */

/* Lets the model run until it gives way. */
static void run_model(void)
{
    cg_event.fault.cause = 0;
    const uint64_t start = cg_counter_read();
    cg_core_run_model();
    const uint64_t mask =
        cg_counter_bits == 64u ? ~UINT64_C(0) : (UINT64_C(1) << cg_counter_bits) - 1u;
    const uint64_t ticks = (cg_counter_read() - start) & mask;
    cg_event.ticks = ticks > overhead ? ticks - overhead : 0;
    cg_event.step = current_step;
    if (cg_board.core1 != NULL && cg_board.core1->fault->cause != 0) { /* it came first */
        cg_event.fault = *cg_board.core1->fault;
        cg_event.step = *cg_board.core1->fault_step;
    }
    const bool faulted = cg_event.fault.cause != 0;
    cg_event.state = faulted ? (uint32_t)CG_LINK_FAULTED : cg_model_event[0];
    cg_event.status = cg_model_event[1];
}

void cg_context_start(cg_status (*run)(void), uint32_t flags)
{
    cg_core_prepare(run);
    cg_model_event[0] = CG_LINK_FINISHED;
    cg_model_event[1] = 0;
    cg_bench_stack = NULL;
    current_step = CG_LINK_NO_STEP;
    if (cg_board.core1 != NULL) {
        cg_board.core1->fault->cause = 0;
    }
    run_flags = flags;
    run_model();
}

void cg_context_continue(void)
{
    run_model();
}

uint32_t cg_context_step(void)
{
    return current_step;
}

uint32_t cg_context_paused(void)
{
    return cg_event.state == CG_LINK_PAUSED;
}

void cg_context_give_up(void)
{
    cg_event.state = CG_LINK_FINISHED;
}

/* ---- calibration ------------------------------------------------------------------------ */

#define LOOPS 250000u

static cg_status nothing(void)
{
    return CG_OK;
}

void cg_context_calibrate(void)
{
    const uint64_t start = cg_counter_read();
    const uint32_t instructions = cg_core_count_down(LOOPS);
    cg_calibration_ticks = (uint32_t)(cg_counter_read() - start);
    cg_calibration_instructions = instructions;
    overhead = 0;
    cg_context_start(nothing, 0);
    overhead = (uint32_t)cg_event.ticks;
}
