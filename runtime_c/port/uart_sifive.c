/* SPDX-License-Identifier: Apache-2.0 */
/* uart_sifive.c -- UART of SiFive's FE310 and FU540. */
#include "cg_port.h"

#define TXDATA 0x00u
#define RXDATA 0x04u
#define TXCTRL 0x08u
#define RXCTRL 0x0Cu
#define IE     0x10u
#define DIV    0x18u

#define CTRL_ENABLE  (1u << 0)
#define IE_RECEIVED  (1u << 1)
#define TXDATA_FULL  (1u << 31)
#define RXDATA_EMPTY (1u << 31)

void cg_uart_open(void)
{
    *cg_register(cg_board.uart_address + DIV) = cg_board.uart_divider - 1u;
    *cg_register(cg_board.uart_address + TXCTRL) = CTRL_ENABLE;
    *cg_register(cg_board.uart_address + RXCTRL) = CTRL_ENABLE;
    *cg_register(cg_board.uart_address + IE) = IE_RECEIVED;
}

void cg_uart_put(uint8_t byte)
{
    while ((*cg_register(cg_board.uart_address + TXDATA) & TXDATA_FULL) != 0) {
    }
    *cg_register(cg_board.uart_address + TXDATA) = byte;
}

uint8_t cg_uart_get(void)
{
    for (;;) {
        const uint32_t data = *cg_register(cg_board.uart_address + RXDATA); /* takes it */
        if ((data & RXDATA_EMPTY) == 0) {
            return (uint8_t)data;
        }
        cg_wait_for_uart();
    }
}
