/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uart_stm32v2.c -- USART of STM32F7, H7, H5, U5, L4, G0 and G4 (F0, F3 and L0 too). Oversampling
 * by 16, no FIFO. The kernel clock is the core's, as reset leaves it.
 */
#define DIVIDER_SCALE 1u
#include "cg_uart_stm32v2.h"
