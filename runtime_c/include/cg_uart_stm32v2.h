/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_uart_stm32v2.h -- the code of drivers of STM32's newer USARTs, and of its LPUART, whose
 * registers are the same. A driver says first what multiplies the divider: DIVIDER_SCALE.
 * Included by uart_stm32v2.c and uart_stm32lp.c only.
 */
#ifndef CG_UART_STM32V2_H
#define CG_UART_STM32V2_H

#include "cg_port.h"

#define CR1 0x00u
#define BRR 0x0Cu
#define ISR 0x1Cu
#define ICR 0x20u
#define RDR 0x24u
#define TDR 0x28u

#define CR1_UE   (1u << 0)
#define CR1_RE   (1u << 2)
#define CR1_TE   (1u << 3)
#define ISR_RXNE (1u << 5)
#define ISR_TXE  (1u << 7)
/* Parity, framing, noise, overrun: an overrun that stays stops reception. */
#define ICR_ERRORS 0xFu

void cg_uart_open(void)
{
    /* BRR may be written while the USART is off only. */
    *cg_register(cg_board.uart_address + CR1) = 0;
    *cg_register(cg_board.uart_address + BRR) = cg_board.uart_divider * DIVIDER_SCALE;
    *cg_register(cg_board.uart_address + CR1) = CR1_UE | CR1_TE | CR1_RE;
}

void cg_uart_put(uint8_t byte)
{
    while ((*cg_register(cg_board.uart_address + ISR) & ISR_TXE) == 0) {
    }
    *cg_register(cg_board.uart_address + TDR) = byte;
}

uint8_t cg_uart_get(void)
{
    while ((*cg_register(cg_board.uart_address + ISR) & ISR_RXNE) == 0) {
        *cg_register(cg_board.uart_address + ICR) = ICR_ERRORS;
        cg_pause();
    }
    return (uint8_t)*cg_register(cg_board.uart_address + RDR);
}

#endif /* CG_UART_STM32V2_H */
