/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c -- contexts and faults of RISC-V cores (cg_core.h). The link runs at the machine's level
 * on its own stack, the model at the user's. The model gives way by ECALL; every other trap is a
 * fault. A trap leaves nothing on the model's stack.
 *
 * mscratch holds the model's context while the model runs, 0 while the link does. The model gives
 * way inside a function, so only registers that calls keep have to be saved. The link holds no
 * floats.
 */
#include "cg_link.h"
#include "cg_port.h"

#define STRINGIFY(x) #x
#define TEXT(x)      STRINGIFY(x)

/* The model while the link runs; the assembly below knows the order. */
typedef struct {
    uint32_t pc;
    uint32_t ra;
    uint32_t sp;
    uint32_t a0; /* argument of its first function */
    uint32_t s0_to_s11[12];
#if defined(__riscv_flen)
    uint32_t fs0_to_fs11[12];
#endif
} model_context;

model_context cg_model_context;
uint32_t cg_link_sp; /* the link's stack pointer while the model runs */

#define CAUSE_USER_CALL 8u
#define CALL_BYTES      4u
#define MPP_AND_MPIE    "0x1880" /* of mstatus: the level below, with no interrupts taken */

/* First and last instructions of the model's context; a0: the function to run. */
void cg_model_entry(void);
__attribute__((naked, used)) void cg_model_entry(void)
{
    __asm__ volatile("   jalr  a0\n"
                     "   la    t0, cg_model_event\n"
                     "   sw    zero, 0(t0)\n" /* CG_LINK_FINISHED */
                     "   sw    a0, 4(t0)\n"
                     "   ecall\n"
                     "1: j     1b\n");
}

__attribute__((naked)) void cg_core_give_way(void)
{
    __asm__ volatile("   ecall\n"
                     "   ret\n");
}

/* ---- switching -------------------------------------------------------------------------- */

#define EACH_SAVED(op, at)                                                                         \
    "   " op "  s0, " TEXT(at) "+0(" BASE ")\n   " op "  s1, " TEXT(                               \
        at) "+4(" BASE ")\n"                                                                       \
            "   " op "  s2, " TEXT(at) "+8(" BASE ")\n   " op "  s3, " TEXT(                       \
                at) "+12(" BASE ")\n"                                                              \
                    "   " op "  s4, " TEXT(at) "+16(" BASE ")\n   " op "  s5, " TEXT(              \
                        at) "+20(" BASE ")\n"                                                      \
                            "   " op "  s6, " TEXT(at) "+24(" BASE ")\n   " op "  s7, " TEXT(      \
                                at) "+28(" BASE ")\n"                                              \
                                    "   " op                                                       \
                                    "  s8, " TEXT(at) "+32(" BASE ")\n   " op "  s9, " TEXT(       \
                                        at) "+36(" BASE ")\n"                                      \
                                            "   " op                                               \
                                            "  s10, " TEXT(at) "+40(" BASE ")\n   " op             \
                                                               "  s11, " TEXT(at) "+44(" BASE      \
                                                                                  ")\n"
#if defined(__riscv_flen)
#define EACH_FLOAT(op)                                                                             \
    "   " op " fs0, 64(t0)\n   " op " fs1, 68(t0)\n   " op " fs2, 72(t0)\n"                        \
    "   " op " fs3, 76(t0)\n   " op " fs4, 80(t0)\n   " op " fs5, 84(t0)\n"                        \
    "   " op " fs6, 88(t0)\n   " op " fs7, 92(t0)\n   " op " fs8, 96(t0)\n"                        \
    "   " op " fs9, 100(t0)\n   " op " fs10, 104(t0)\n   " op " fs11, 108(t0)\n"
#else
#define EACH_FLOAT(op) ""
#endif

/* From the link to the model; returns the cause when a trap leads back. */
uint32_t cg_core_enter_model(void);
__attribute__((naked)) uint32_t cg_core_enter_model(void)
{
#define BASE "sp"
    __asm__ volatile("   addi  sp, sp, -64\n"
                     "   sw    ra, 0(sp)\n" EACH_SAVED("sw", 4) "   la    t0, cg_link_sp\n"
                                                                "   sw    sp, 0(t0)\n"
                                                                "   la    t0, cg_model_context\n"
                                                                "   csrw  mscratch, t0\n"
                                                                "   lw    t1, 0(t0)\n"
                                                                "   csrw  mepc, t1\n"
                                                                "   li    t1, " MPP_AND_MPIE "\n"
                                                                "   csrc  mstatus, t1\n"
                                                                "   lw    ra, 4(t0)\n"
                                                                "   lw    sp, 8(t0)\n"
                                                                "   lw    a0, 12(t0)\n"
#undef BASE
#define BASE "t0"
                     EACH_SAVED("lw", 16) EACH_FLOAT("flw") "   mret\n");
}

/* From the model to the link, or a fault of the link. The temporaries are free in both. */
__attribute__((naked, aligned(4))) void cg_trap(void)
{
    __asm__ volatile(
        "   csrr  t0, mscratch\n"
        "   beqz  t0, 1f\n"
        "   csrw  mscratch, zero\n"
        "   sw    ra, 4(t0)\n"
        "   sw    sp, 8(t0)\n" EACH_SAVED("sw", 16) EACH_FLOAT("fsw")
#undef BASE
#define BASE "sp"
            "   csrr  t1, mepc\n"
            "   sw    t1, 0(t0)\n"
            "   csrr  a0, mcause\n"
            "   la    t0, cg_link_sp\n"
            "   lw    sp, 0(t0)\n"
            "   lw    ra, 0(sp)\n" EACH_SAVED("lw", 4) "   addi  sp, sp, 64\n"
                                                       "   ret\n"
                                                       "1: mv    a0, ra\n"
                                                       "   mv    a1, sp\n"
                                                       "   la    sp, __cg__link_stack_end\n"
                                                       "   j     cg_link_faulted\n");
#undef BASE
}

uint8_t *cg_context_stack_top(void)
{
    return cg_board.stack_end;
}

void cg_core_prepare(cg_status (*run)(void))
{
    cg_model_context = (model_context){
        .pc = (uint32_t)(uintptr_t)cg_model_entry,
        .sp = (uint32_t)(uintptr_t)cg_board.stack_end,
        .a0 = (uint32_t)(uintptr_t)run,
    };
}

/* ---- faults ----------------------------------------------------------------------------- */

/* Words of a fault's record, which codegen/targets/riscv/fault_words.py decodes. The cause is one
 * more than the core's, which begins with 0. */
enum { PC, RA, SP, MSTATUS, MTVAL, FLAGS };

#define STACK_OVERFLOW 1u

void cg_fault_record(cg_link_fault *fault, uint32_t ra, uint32_t sp)
{
    uint32_t value;
    *fault = (cg_link_fault){.cause = 0};
    CG_CSR_READ(mcause, value);
    fault->cause = value + 1u;
    CG_CSR_READ(mepc, value);
    fault->words[PC] = value;
    CG_CSR_READ(mstatus, value);
    fault->words[MSTATUS] = value;
    CG_CSR_READ(mtval, value);
    fault->words[MTVAL] = value;
    fault->words[RA] = ra;
    fault->words[SP] = sp;
}

void cg_fault_note_stack(cg_link_fault *fault, const uint8_t *start, const uint8_t *end)
{
    const uint32_t sp = fault->words[SP];
    const bool outside = sp < (uint32_t)(uintptr_t)start || sp > (uint32_t)(uintptr_t)end;
    fault->words[FLAGS] = outside ? STACK_OVERFLOW : 0;
}

void cg_link_faulted(uint32_t ra, uint32_t sp);
__attribute__((used)) void cg_link_faulted(uint32_t ra, uint32_t sp)
{
    cg_fault_record(&cg_event.fault, ra, sp);
    cg_link_broken();
}

void cg_core_run_model(void)
{
    if (cg_core_enter_model() == CAUSE_USER_CALL) {
        cg_model_context.pc += CALL_BYTES;
        return;
    }
    cg_fault_record(&cg_event.fault, cg_model_context.ra, cg_model_context.sp);
    cg_fault_note_stack(&cg_event.fault, cg_board.stack_start, cg_board.stack_end);
}
