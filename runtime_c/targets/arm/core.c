/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c -- contexts and faults of Arm cores (cg_core.h). The link runs on the main stack, the
 * model on the process stack. SVC switches from whichever runs to the other.
 */
#include "cg_link.h"
#include "cg_port.h"

#if defined(__ARM_FP)
#define HAS_FPU      1
#define FRAME_NUMBER 128 /* exception frame with floating point registers, and padding */
#else
#define HAS_FPU      0
#define FRAME_NUMBER 48
#endif
#define FRAME_BYTES  ((uint32_t)FRAME_NUMBER)
#define STRINGIFY(x) #x
#define TEXT(x)      STRINGIFY(x)

#define EXC_RETURN_MODEL  0xFFFFFFFDu /* thread, process stack, no floating point state */
#define EXC_RETURN_PSP    4u
#define EXC_RETURN_THREAD 8u
#define PSR_THUMB         0x01000000u

/* The model while the link runs; the assembly below knows the order. */
typedef struct {
    uint32_t r4_to_r11[8];
    uint32_t psp;
    uint32_t exc_return;
#if HAS_FPU
    uint32_t s16_to_s31[16];
#endif
} model_context;

/* The start of a hardware exception frame. */
typedef struct {
    uint32_t r0;
    uint32_t r1;
    uint32_t r2;
    uint32_t r3;
    uint32_t r12;
    uint32_t lr;
    uint32_t pc;
    uint32_t psr;
} exception_frame;

model_context cg_model_context;
uint32_t cg_link_sp; /* main stack pointer while the model runs */

/*
 * First and last instructions of the model's context; r0: the function to run. Exception frames of
 * its start and its end lie above the stack pointer that the function is called with, so they
 * leave no mark on the stack that is measured.
 */
void cg_model_entry(void);
__attribute__((naked, used)) void cg_model_entry(void)
{
    __asm__ volatile(".syntax unified\n"
                     "   sub   sp, #" TEXT(
                         FRAME_NUMBER) "\n"
                                       "   blx   r0\n"
                                       "   add   sp, #" TEXT(
                                           FRAME_NUMBER) "\n"
                                                         "   ldr   r2, =cg_model_event\n"
                                                         "   movs  r1, #0\n" /* CG_LINK_FINISHED */
                                                         "   str   r1, [r2]\n"
                                                         "   str   r0, [r2, #4]\n"
                                                         "   svc   0\n"
                                                         "1: b     1b\n"
                                                         "   .ltorg\n");
}

/* ---- switching -------------------------------------------------------------------------- */

/* Drops to the link's context: its registers are on its stack. r0 is free. Does not return. */
#define TAKE_LINK                                                                                  \
    "   ldr   r0, =cg_link_sp\n"                                                                   \
    "   ldr   r0, [r0]\n"                                                                          \
    "   mov   sp, r0\n"                                                                            \
    "   movs  r0, #0\n" /* privileged */                                                           \
    "   msr   control, r0\n"                                                                       \
    "   isb\n"                                                                                     \
    "   pop   {r4-r7}\n"                                                                           \
    "   mov   r8, r4\n"                                                                            \
    "   mov   r9, r5\n"                                                                            \
    "   mov   r10, r6\n"                                                                           \
    "   mov   r11, r7\n"                                                                           \
    "   pop   {r4-r7, pc}\n"

__attribute__((naked)) void cg_svc_handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "   mov   r0, lr\n"
                     "   lsls  r0, r0, #29\n" /* EXC_RETURN bit 2: which stack */
                     "   bmi   1f\n"
                     /* from the link to the model */
                     "   push  {r4-r7, lr}\n"
                     "   mov   r4, r8\n"
                     "   mov   r5, r9\n"
                     "   mov   r6, r10\n"
                     "   mov   r7, r11\n"
                     "   push  {r4-r7}\n"
                     "   ldr   r0, =cg_link_sp\n"
                     "   mov   r1, sp\n"
                     "   str   r1, [r0]\n"
                     "   ldr   r0, =cg_model_context\n"
                     "   mov   r3, r0\n"
                     "   adds  r0, #16\n"
                     "   ldmia r0!, {r4-r7}\n"
                     "   mov   r8, r4\n"
                     "   mov   r9, r5\n"
                     "   mov   r10, r6\n"
                     "   mov   r11, r7\n"
                     "   ldmia r0!, {r1, r2}\n"
                     "   ldmia r3!, {r4-r7}\n"
                     "   msr   psp, r1\n"
#if HAS_FPU
                     "   tst   r2, #0x10\n"
                     "   it    eq\n"
                     "   vldmiaeq r0, {s16-s31}\n"
#endif
                     "   movs  r0, #1\n" /* unprivileged */
                     "   msr   control, r0\n"
                     "   isb\n"
                     "   bx    r2\n"
                     /* from the model to the link */
                     "1: ldr   r0, =cg_model_context\n"
                     "   mrs   r1, psp\n"
                     "   mov   r2, lr\n"
                     "   stmia r0!, {r4-r7}\n"
                     "   mov   r4, r8\n"
                     "   mov   r5, r9\n"
                     "   mov   r6, r10\n"
                     "   mov   r7, r11\n"
                     "   stmia r0!, {r4-r7}\n"
                     "   stmia r0!, {r1, r2}\n"
#if HAS_FPU
                     "   tst   r2, #0x10\n"
                     "   it    eq\n"
                     "   vstmiaeq r0, {s16-s31}\n"
#endif
                     TAKE_LINK "   .ltorg\n");
}

__attribute__((naked)) static void give_up_model(void)
{
    __asm__ volatile(".syntax unified\n" TAKE_LINK "   .ltorg\n");
}

uint8_t *cg_context_stack_top(void)
{
    return cg_board.stack_end - FRAME_BYTES;
}

void cg_core_prepare(cg_status (*run)(void))
{
    exception_frame *const frame =
        (exception_frame *)(void *)(cg_board.stack_end - sizeof(exception_frame));
    *frame = (exception_frame){
        .r0 = (uint32_t)(uintptr_t)run,
        .pc = (uint32_t)(uintptr_t)cg_model_entry & ~1u,
        .psr = PSR_THUMB,
    };
    cg_model_context.psp = (uint32_t)(uintptr_t)frame;
    cg_model_context.exc_return = EXC_RETURN_MODEL;
}

/* ---- faults ----------------------------------------------------------------------------- */

#define SCB_CFSR  0xE000ED28u
#define SCB_HFSR  0xE000ED2Cu
#define SCB_MMFAR 0xE000ED34u
#define SCB_BFAR  0xE000ED38u

/* Words of a fault's record, which codegen/targets/arm/fault_words.py decodes. The exception's
 * number is the cause; pc, lr and psr are 0 where the stack could not take them. */
enum { PC, LR, PSR, SP, CFSR, HFSR, MMFAR, BFAR };

#define CFSR_STACKING 0x00101010u /* STKOF, STKERR, MSTKERR: the exception frame is not there */

void cg_fault_record(cg_link_fault *fault, uint32_t sp)
{
    uint32_t exception;
    __asm__("mrs %0, ipsr" : "=r"(exception));
    *fault = (cg_link_fault){.cause = exception};
    fault->words[SP] = sp;
#if __ARM_ARCH >= 7 || defined(__ARM_ARCH_8M_MAIN__)
    fault->words[CFSR] = *cg_register(SCB_CFSR);
    fault->words[HFSR] = *cg_register(SCB_HFSR);
    fault->words[MMFAR] = *cg_register(SCB_MMFAR);
    fault->words[BFAR] = *cg_register(SCB_BFAR);
    *cg_register(SCB_CFSR) = fault->words[CFSR]; /* writing ones clears */
    *cg_register(SCB_HFSR) = fault->words[HFSR];
#endif
    const uint32_t start = (uint32_t)(uintptr_t)cg_board.stack_start;
    const uint32_t end = (uint32_t)(uintptr_t)cg_board.data_end;
    if ((fault->words[CFSR] & CFSR_STACKING) == 0 && sp >= start && sp < end) {
        const exception_frame *const frame = (const exception_frame *)(uintptr_t)sp;
        fault->words[PC] = frame->pc;
        fault->words[LR] = frame->lr;
        fault->words[PSR] = frame->psr;
    }
}

void cg_fault_taken(uint32_t exc_return, uint32_t psp, uint32_t msp);
__attribute__((used)) void cg_fault_taken(uint32_t exc_return, uint32_t psp, uint32_t msp)
{
    const bool model = (exc_return & EXC_RETURN_PSP) != 0 && (exc_return & EXC_RETURN_THREAD) != 0;
    cg_fault_record(&cg_event.fault, model ? psp : msp);
    if (model) {
        give_up_model();
    }
    cg_link_broken();
}

__attribute__((naked)) void cg_fault_handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "   mov   r0, lr\n"
                     "   mrs   r1, psp\n"
                     "   mrs   r2, msp\n"
                     "   ldr   r3, =cg_fault_taken\n"
                     "   bx    r3\n"
                     "   .ltorg\n");
}
