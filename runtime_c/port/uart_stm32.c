/* SPDX-License-Identifier: Apache-2.0 */
/* uart_stm32.c -- USART of STM32F1, F2 and F4. */
#include "cg_port.h"

#define SR  0x00u
#define DR  0x04u
#define BRR 0x08u
#define CR1 0x0Cu

#define SR_RXNE    (1u << 5)
#define SR_TXE     (1u << 7)
#define CR1_RE     (1u << 2)
#define CR1_TE     (1u << 3)
#define CR1_RXNEIE (1u << 5)
#define CR1_UE     (1u << 13)

void cg_uart_open(void)
{
    *cg_register(cg_board.uart_address + BRR) = cg_board.uart_divider;
    *cg_register(cg_board.uart_address + CR1) = CR1_UE | CR1_TE | CR1_RE | CR1_RXNEIE;
}

void cg_uart_put(uint8_t byte)
{
    while ((*cg_register(cg_board.uart_address + SR) & SR_TXE) == 0) {
    }
    *cg_register(cg_board.uart_address + DR) = byte;
}

uint8_t cg_uart_get(void)
{
    while ((*cg_register(cg_board.uart_address + SR) & SR_RXNE) == 0) {
        cg_wait_for_uart();
    }
    return (uint8_t)*cg_register(cg_board.uart_address + DR);
}
