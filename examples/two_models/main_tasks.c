/* SPDX-License-Identifier: 0BSD */
/*
 * main_tasks.c -- a task of FreeRTOS for each model.
 *
 * Either task may interrupt the other, so the models are built with --concurrent: they share no
 * bytes.
 */
#include "FreeRTOS.h"
#include "task.h"

#include "classes.h"
#include "models_pools.h"
#include "uart.h"

/*
 * A task's stack holds what the model takes (a bound that codegen has proved), the task's own
 * functions, and the registers that FreeRTOS saves there on a Cortex-M4F: 51 words with those of
 * the FPU, and one to align.
 */
#define OWN_BYTES               256u
#define REGISTERS_BYTES         (52u * 4u)
#define WORDS(bytes)            (((bytes) + sizeof(StackType_t) - 1u) / sizeof(StackType_t))
#define TASK_WORDS(model_bytes) WORDS((model_bytes) + OWN_BYTES + REGISTERS_BYTES)

static StackType_t digits_stack[TASK_WORDS(DIGITS_STACK_BYTES)];
static StackType_t tone_stack[TASK_WORDS(TONE_STACK_BYTES)];
static StaticTask_t digits_task;
static StaticTask_t tone_task;
static uint32_t running = 2;

static inline uintptr_t stack_pointer(void)
{
    uintptr_t pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    return pointer;
}

/* Lowest byte of the calling task's stack that was ever written to. */
static uintptr_t lowest(const StackType_t *stack)
{
    return (uintptr_t)(stack + uxTaskGetStackHighWaterMark(NULL));
}

static void print_use(const char *model, uintptr_t used, uintptr_t available)
{
    uart_text(model);
    uart_text(": ");
    uart_number((uint32_t)used);
    uart_text(" of ");
    uart_number((uint32_t)available);
    uart_text(" bytes of stack\n");
}

/* The last of the tasks says so. Nothing else runs while a line is printed. */
static void finish(const char *task, const StackType_t *stack, uint32_t words)
{
    const uintptr_t end = (uintptr_t)(stack + words);
    vTaskSuspendAll();
    print_use(task, end - lowest(stack), end - (uintptr_t)stack);
    running--;
    if (running == 0u) {
        uart_text("end\n");
    }
    (void)xTaskResumeAll();
    vTaskDelete(NULL);
}

static void run_digits(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < INPUTS; i++) {
        int8_t odds[DIGITS_ODDS_ELEMENTS];
        const digits_inputs inputs = {.image = images[i]};
        const digits_outputs outputs = {.odds = odds};
        const uintptr_t before = stack_pointer();
        const cg_status status = digits_run(&inputs, &outputs);
        const uintptr_t after = lowest(digits_stack);
        vTaskSuspendAll();
        if (status != CG_OK) {
            stop(DIGITS_NAME, status);
        }
        if (i == 0u) { /* nothing but the model has gone deeper so far */
            print_use(DIGITS_NAME, before - after, DIGITS_STACK_BYTES);
        }
        print_digit(i, largest(odds, DIGITS_ODDS_ELEMENTS));
        (void)xTaskResumeAll();
        vTaskDelay(1);
    }
    finish("task digits", digits_stack, TASK_WORDS(DIGITS_STACK_BYTES));
}

static void run_tone(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < INPUTS; i++) {
        int8_t scores[TONE_SCORES_ELEMENTS];
        const tone_inputs inputs = {.samples = recordings[i]};
        const tone_outputs outputs = {.scores = scores};
        const uintptr_t before = stack_pointer();
        const cg_status status = tone_run(&inputs, &outputs);
        const uintptr_t after = lowest(tone_stack);
        vTaskSuspendAll();
        if (status != CG_OK) {
            stop(TONE_NAME, status);
        }
        if (i == 0u) {
            print_use(TONE_NAME, before - after, TONE_STACK_BYTES);
        }
        print_tone(i, largest(scores, TONE_SCORES_ELEMENTS));
        (void)xTaskResumeAll();
        vTaskDelay(1);
    }
    finish("task tone", tone_stack, TASK_WORDS(TONE_STACK_BYTES));
}

int main(void)
{
    uart_open();
    (void)xTaskCreateStatic(run_digits, "digits", TASK_WORDS(DIGITS_STACK_BYTES), NULL, 1,
                            digits_stack, &digits_task);
    (void)xTaskCreateStatic(run_tone, "tone", TASK_WORDS(TONE_STACK_BYTES), NULL, 1, tone_stack,
                            &tone_task);
    vTaskStartScheduler();
    return 0;
}
