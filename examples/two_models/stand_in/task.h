/* SPDX-License-Identifier: 0BSD */
/* task.h -- the calls that main_tasks.c makes, as FreeRTOS declares them: see tasks_stand_in.c. */
#ifndef STAND_IN_TASK_H
#define STAND_IN_TASK_H

#include "FreeRTOS.h"

typedef void (*TaskFunction_t)(void *);

typedef struct task {
    StackType_t *pointer; /* where its registers are, while it does not run */
    const StackType_t *stack;
    struct task *next;
    TaskFunction_t function;
    void *argument;
} StaticTask_t;

typedef StaticTask_t *TaskHandle_t;

TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char *name, uint32_t words,
                               void *argument, UBaseType_t priority, StackType_t *stack,
                               StaticTask_t *task);
void vTaskStartScheduler(void);
void vTaskDelay(TickType_t ticks);
void vTaskDelete(TaskHandle_t task);
void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task);

#endif /* STAND_IN_TASK_H */
