/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setup_stm32f1.c -- STM32F100 at its reset clock (HSI, 8 MHz): USART1 on PA9 and PA10.
 */
#include "cg_port.h"

#define RCC_APB2ENR 0x40021018u
#define GPIOA_CRH   0x40010804u

#define RCC_GPIOA  (1u << 2)
#define RCC_USART1 (1u << 14)

#define PIN_MASK        (0xFFu << 4) /* PA9, PA10: four bits each */
#define PIN_TX_PUSHPULL (0xBu << 4)  /* PA9: alternate function, 50 MHz */
#define PIN_RX_FLOATING (0x4u << 8)

void cg_setup_board(void)
{
    *cg_register(RCC_APB2ENR) |= RCC_GPIOA | RCC_USART1;
    *cg_register(GPIOA_CRH) =
        (*cg_register(GPIOA_CRH) & ~PIN_MASK) | PIN_TX_PUSHPULL | PIN_RX_FLOATING;
}
