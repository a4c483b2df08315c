/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1.c -- the second core (hart 1) in the test firmware: from its reset to the model's mailbox.
 * It runs steps at the user's level, on a stack of its own, behind memory protection that closes to
 * it what core 0's closes to the model. A fault there is kept for the link; then core 1 starts
 * anew, so that core 0, which waits for the step, gets to where it can tell.
 *
 * Some of what has to be done takes the machine's level: cg_core1_ask leads there from any.
 */
#include "core1.h"

#include "cg_core1.h"
#include "cg_link.h"
#include "cg_port.h"

#define HANDLER_STACK_BYTES 256u

#define STATUS_FLOATS_VECTORS 0x6600u /* FS and VS of mstatus: such instructions may run */
#define PMP_KIND              0x18u
#define PMP_TOR               0x08u
#define GUARD_ENTRIES         2u

uint8_t cg_core1_handler_stack[HANDLER_STACK_BYTES] CG_ALIGNED(16);
cg_link_fault cg_core1_fault;
uint32_t cg_core1_fault_step;
static uint8_t *waiting; /* core 1's stack pointer while it waits for steps */

/* State that core 1 takes over from core 0; all memory is open before the first time. */
static struct {
    uint32_t status;
    uint32_t address[CG_PMP_ENTRIES];
    uint8_t config[CG_PMP_ENTRIES];
} seen = {.address = {0xFFFFFFFFu}, .config = {0x1F}};

void cg_core1_reset(void);
void cg_core1_trap(void);
void cg_core1_ask_call(void);

/* ---- at the machine's level, on either core --------------------------------------------- */

__attribute__((naked)) void cg_core1_ask(void (*function)(void))
{
    (void)function;
    __asm__ volatile("   .global cg_core1_ask_call\n"
                     "cg_core1_ask_call:\n"
                     "   ecall\n"
                     "   ret\n");
}

/*
 * A call by cg_core1_ask runs its function, a0: on the stack of who asked if that is the link, on
 * the link's own if it is the model, on the handler's on core 1. Temporaries are free, as in any
 * call. Everything else is a fault of the core it came on.
 */
__attribute__((naked, aligned(4))) void cg_core1_trap(void)
{
    __asm__ volatile("   csrr  t0, mepc\n"
                     "   la    t1, cg_core1_ask_call\n"
                     "   bne   t0, t1, 2f\n"
                     "   mv    t1, sp\n"
                     "   csrr  t0, mcause\n"
                     "   addi  t0, t0, -8\n" /* 0: from the user's level */
                     "   bnez  t0, 1f\n"
                     "   la    sp, cg_core1_handler_stack + 256\n"
                     "   csrr  t0, mhartid\n"
                     "   bnez  t0, 1f\n"
                     "   la    t0, cg_link_sp\n"
                     "   lw    sp, 0(t0)\n"
                     "1: addi  sp, sp, -16\n"
                     "   sw    t1, 0(sp)\n"
                     "   sw    ra, 4(sp)\n"
                     "   jalr  a0\n"
                     "   csrr  t0, mepc\n"
                     "   addi  t0, t0, 4\n"
                     "   csrw  mepc, t0\n"
                     "   lw    ra, 4(sp)\n"
                     "   lw    sp, 0(sp)\n"
                     "   mret\n"
                     "2: csrr  t0, mhartid\n"
                     "   beqz  t0, 3f\n"
                     "   mv    a0, ra\n"
                     "   mv    a1, sp\n"
                     "   la    sp, cg_core1_handler_stack + 256\n"
                     "   j     cg_core1_fault_taken\n"
                     "3: j     cg_trap\n");
}

/* ---- on core 1 -------------------------------------------------------------------------- */

static void take_over(void)
{
    uint32_t config[CG_PMP_ENTRIES / 4u] = {0};
    for (uint32_t i = 0; i < CG_PMP_ENTRIES; i++) {
        config[i / 4u] |= (uint32_t)seen.config[i] << (8u * (i % 4u));
    }
#define WRITE(n) CG_CSR_WRITE(pmpaddr##n, seen.address[n]);
    CG_PMP_EACH(WRITE)
#undef WRITE
    CG_CSR_WRITE(pmpcfg0, config[0]);
    CG_CSR_WRITE(pmpcfg1, config[1]);
    CG_CSR_WRITE(pmpcfg2, config[2]);
    CG_CSR_WRITE(pmpcfg3, config[3]);
    __asm__ volatile("csrs mstatus, %0\n\tfence" ::"r"(seen.status) : "memory");
}

uint8_t *cg_core1_set_up(void);
__attribute__((used)) uint8_t *cg_core1_set_up(void)
{
    take_over();
    return cg_board.core1->stack_end;
}

/* Steps run at the user's level: mstatus.MPP is 0. */
__attribute__((naked)) void cg_core1_reset(void)
{
    __asm__ volatile("   csrw  mie, zero\n"
                     "   csrci mstatus, 8\n"
                     "   la    sp, cg_core1_handler_stack + 256\n"
                     "   la    t0, cg_core1_trap\n"
                     "   csrw  mtvec, t0\n"
                     "   call  cg_core1_set_up\n"
                     "   mv    sp, a0\n"
                     "   li    t0, 0x1880\n" /* MPP and MPIE */
                     "   csrc  mstatus, t0\n"
                     "   la    t0, cg_core1_main\n"
                     "   csrw  mepc, t0\n"
                     "   mret\n");
}

void cg_core1_fault_taken(uint32_t ra, uint32_t sp) __attribute__((noreturn));
__attribute__((used)) void cg_core1_fault_taken(uint32_t ra, uint32_t sp)
{
    cg_link_fault fault;
    cg_fault_record(&fault, ra, sp);
    cg_fault_note_stack(&fault, cg_board.core1->stack_start, cg_board.core1->stack_end);
    if (cg_core1_fault.cause == 0) {
        cg_core1_fault = fault;
        cg_core1_fault_step = cg_context_step();
    }
    __asm__ volatile("fence" ::: "memory");
    cg_core1_mailbox.step = NULL;
    cg_core1_wake();
    cg_core1_reset();
    __builtin_unreachable();
}

static void look_at_stack(const void *given)
{
    (void)given;
    __asm__ volatile("mv %0, sp" : "=r"(waiting));
}

void cg_core1_follow_mpu(const void *given)
{
    (void)given;
    cg_core1_ask(take_over);
}

/* ---- on core 0 -------------------------------------------------------------------------- */

/*
 * Below core 1's stack lies the link's, which is open to the model as all of the firmware's data.
 * Two entries in front, of which the second is closed, keep an overflow out of it where entries are
 * ranges (kind TOR) and two are left.
 */
static void close_link_stack(void)
{
    uint32_t used = 0;
    bool are_ranges = false;
    for (uint32_t i = 0; i < CG_PMP_ENTRIES; i++) {
        used = seen.config[i] != 0 ? i + 1u : used;
        are_ranges = are_ranges || (seen.config[i] & PMP_KIND) == PMP_TOR;
    }
    if (!are_ranges || used + GUARD_ENTRIES > cg_mpu_regions()) {
        return;
    }
    for (uint32_t i = used + GUARD_ENTRIES - 1u; i >= GUARD_ENTRIES; i--) {
        seen.address[i] = seen.address[i - GUARD_ENTRIES];
        seen.config[i] = seen.config[i - GUARD_ENTRIES];
    }
    seen.address[0] = (uint32_t)(uintptr_t)cg_board.link_stack_start >> 2;
    seen.address[1] = (uint32_t)(uintptr_t)cg_board.link_stack_end >> 2;
    seen.config[0] = 0;
    seen.config[1] = PMP_TOR;
}

void cg_core1_see_mpu(void)
{
    uint32_t config[CG_PMP_ENTRIES / 4u];
#define READ(n) CG_CSR_READ(pmpaddr##n, seen.address[n]);
    CG_PMP_EACH(READ)
#undef READ
    CG_CSR_READ(pmpcfg0, config[0]);
    CG_CSR_READ(pmpcfg1, config[1]);
    CG_CSR_READ(pmpcfg2, config[2]);
    CG_CSR_READ(pmpcfg3, config[3]);
    for (uint32_t i = 0; i < CG_PMP_ENTRIES; i++) {
        seen.config[i] = (uint8_t)(config[i / 4u] >> (8u * (i % 4u)));
    }
    close_link_stack();
}

void cg_core1_follow(void)
{
    cg_core1_see_mpu();
    cg_core1_run(cg_core1_follow_mpu, NULL);
}

uint8_t *cg_core1_stack_top(void)
{
    cg_core1_run(look_at_stack, NULL);
    return waiting;
}

void cg_core1_start(void)
{
    CG_CSR_READ(mstatus, seen.status);
    seen.status &= STATUS_FLOATS_VECTORS;
    CG_CSR_WRITE(mtvec, cg_core1_trap);
    cg_core1_release(cg_board.core1->registers, (uint32_t)(uintptr_t)cg_core1_reset);
}
