/* SPDX-License-Identifier: 0BSD */
/*
 * tasks_stand_in.c -- enough of a scheduler to run main_tasks.c where FreeRTOS is not at hand.
 *
 * It is not FreeRTOS and no part of a product. Tasks have stacks of their own and are switched for
 * real, registers of the FPU included, but only where they wait (vTaskDelay) or end: no tick, no
 * priorities. Stacks are painted when a task is made, so the paint that is left says how deep it
 * went.
 */
#include "task.h"

#define PAINT 0xA5A5A5A5u

static StaticTask_t *current; /* in a ring of all tasks that have not ended */
static StackType_t *outside;  /* stack of who started the scheduler, never returned to */

/* Saves registers on the stack, keeps its pointer in *from (r0), goes on with the stack at `to`
 * (r1). */
__attribute__((naked, noinline)) static void
switch_stacks(__attribute__((unused)) StackType_t **from, __attribute__((unused)) StackType_t *to)
{
    __asm__ volatile("push  {r3-r11, lr}\n\t" /* r3 aligns to 8 bytes */
                     "vpush {s16-s31}\n\t"
                     "str   sp, [r0]\n\t"
                     "mov   sp, r1\n\t"
                     "vpop  {s16-s31}\n\t"
                     "pop   {r3-r11, pc}");
}

#define SAVED_WORDS                                                                                \
    26u /* 16 of the FPU, r3 to r11, and the address to go on at, which is the last */

static void halt(void)
{
    for (;;) {
        __asm__ volatile("wfi");
    }
}

/* Where a task begins. */
static void begin(void)
{
    current->function(current->argument);
    halt(); /* a task of FreeRTOS does not return */
}

TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char *name, uint32_t words,
                               void *argument, UBaseType_t priority, StackType_t *stack,
                               StaticTask_t *task)
{
    (void)name;
    (void)priority;
    for (uint32_t i = 0; i < words; i++) {
        stack[i] = PAINT;
    }
    StackType_t *const top = (StackType_t *)((uintptr_t)(stack + words) & ~(uintptr_t)7u);
    top[-1] = (StackType_t)(uintptr_t)begin;
    *task = (StaticTask_t){.pointer = top - SAVED_WORDS,
                           .stack = stack,
                           .next = task,
                           .function = function,
                           .argument = argument};
    if (current == NULL) {
        current = task;
    } else {
        StaticTask_t *last = current;
        while (last->next != current) {
            last = last->next;
        }
        task->next = current;
        last->next = task;
    }
    return task;
}

void vTaskStartScheduler(void)
{
    if (current != NULL) {
        switch_stacks(&outside, current->pointer);
    }
}

void vTaskDelay(TickType_t ticks)
{
    (void)ticks;
    StaticTask_t *const from = current;
    current = from->next;
    if (current != from) {
        switch_stacks(&from->pointer, current->pointer);
    }
}

/* Ends the calling task, the only one that this example ends: `task` is NULL. */
void vTaskDelete(TaskHandle_t task)
{
    (void)task;
    StaticTask_t *const ended = current;
    if (ended->next == ended) {
        halt();
    }
    StaticTask_t *before = ended;
    while (before->next != ended) {
        before = before->next;
    }
    before->next = ended->next;
    current = ended->next;
    switch_stacks(&ended->pointer, current->pointer);
}

/* Tasks are switched only where they wait, so there is nothing to keep out. */
void vTaskSuspendAll(void)
{
}

BaseType_t xTaskResumeAll(void)
{
    return 0;
}

/* Of the calling task: words at the far end of its stack that were never written to. */
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task)
{
    (void)task;
    UBaseType_t words = 0;
    while (current->stack[words] == PAINT) {
        words++;
    }
    return words;
}
