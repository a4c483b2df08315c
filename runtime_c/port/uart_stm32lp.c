/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uart_stm32lp.c -- LPUART of STM32L4 and its like. It counts 256 to a clock where the USART counts
 * 1; the rest is as in uart_stm32v2.c.
 */
#define DIVIDER_SCALE 256u
#include "cg_uart_stm32v2.h"
