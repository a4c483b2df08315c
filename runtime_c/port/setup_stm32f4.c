/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup_stm32f4.c -- STM32F4 at its reset clock (HSI, 16 MHz): USART2 on PA2 and PA3, TIM2.
 */
#include "cg_port.h"

#define RCC_AHB1ENR 0x40023830u
#define RCC_APB1ENR 0x40023840u
#define GPIOA_MODER 0x40020000u
#define GPIOA_AFRL  0x40020020u

#define RCC_GPIOA  (1u << 0)
#define RCC_TIM2   (1u << 0)
#define RCC_USART2 (1u << 17)

#define PINS_MODE_MASK      (0xFu << 4) /* PA2, PA3: two bits each */
#define PINS_MODE_ALTERNATE (0xAu << 4)
#define PINS_AF_MASK        (0xFFu << 8) /* four bits each */
#define PINS_AF_USART2      (0x77u << 8)

void cg_setup_board(void)
{
    *cg_register(RCC_AHB1ENR) |= RCC_GPIOA;
    *cg_register(RCC_APB1ENR) |= RCC_TIM2 | RCC_USART2;
    *cg_register(GPIOA_AFRL) = (*cg_register(GPIOA_AFRL) & ~PINS_AF_MASK) | PINS_AF_USART2;
    *cg_register(GPIOA_MODER) = (*cg_register(GPIOA_MODER) & ~PINS_MODE_MASK) | PINS_MODE_ALTERNATE;
}
