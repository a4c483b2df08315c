/* SPDX-License-Identifier: 0BSD */
/* FreeRTOS.h -- types of the stand-in for FreeRTOS, which this is not: see tasks_stand_in.c. */
#ifndef STAND_IN_FREERTOS_H
#define STAND_IN_FREERTOS_H

#include <stddef.h>
#include <stdint.h>

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;
typedef uint32_t StackType_t;

#endif /* STAND_IN_FREERTOS_H */
