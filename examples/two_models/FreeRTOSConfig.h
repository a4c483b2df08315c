/* SPDX-License-Identifier: 0BSD */
/* FreeRTOSConfig.h -- of this example, for FreeRTOS V11 on a Cortex-M4F: static memory only. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ                   25000000u
#define configTICK_RATE_HZ                   1000u
#define configTICK_TYPE_WIDTH_IN_BITS        TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION                 1
#define configMAX_PRIORITIES                 3
#define configMINIMAL_STACK_SIZE             128
#define configUSE_IDLE_HOOK                  0
#define configUSE_TICK_HOOK                  0
#define configSUPPORT_STATIC_ALLOCATION      1
#define configSUPPORT_DYNAMIC_ALLOCATION     0
#define configKERNEL_PROVIDED_STATIC_MEMORY  1
#define configPRIO_BITS                      3
#define configKERNEL_INTERRUPT_PRIORITY      (7 << (8 - configPRIO_BITS))
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << (8 - configPRIO_BITS))

#define INCLUDE_vTaskDelay                  1
#define INCLUDE_vTaskDelete                 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1

#endif /* FREERTOS_CONFIG_H */
