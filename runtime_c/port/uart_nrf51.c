/* SPDX-License-Identifier: Apache-2.0 */
/* uart_nrf51.c -- UART of nRF51 and nRF52 at 115200 baud; the board's set-up has chosen its pins.
 */
#include "cg_port.h"

#define STARTRX  0x000u
#define STARTTX  0x008u
#define RXDRDY   0x108u
#define TXDRDY   0x11Cu
#define INTENSET 0x304u
#define ENABLE   0x500u
#define RXD      0x518u
#define TXD      0x51Cu
#define BAUDRATE 0x524u

#define ENABLED         4u
#define INTEN_RXDRDY    (1u << 2)
#define BAUDRATE_115200 0x01D7E000u

static bool sending;

void cg_uart_open(void)
{
    *cg_register(cg_board.uart_address + BAUDRATE) = BAUDRATE_115200;
    *cg_register(cg_board.uart_address + ENABLE) = ENABLED;
    *cg_register(cg_board.uart_address + INTENSET) = INTEN_RXDRDY;
    *cg_register(cg_board.uart_address + STARTTX) = 1;
    *cg_register(cg_board.uart_address + STARTRX) = 1;
}

void cg_uart_put(uint8_t byte)
{
    while (sending && *cg_register(cg_board.uart_address + TXDRDY) == 0) {
    }
    *cg_register(cg_board.uart_address + TXDRDY) = 0;
    *cg_register(cg_board.uart_address + TXD) = byte;
    sending = true;
}

uint8_t cg_uart_get(void)
{
    while (*cg_register(cg_board.uart_address + RXDRDY) == 0) {
        cg_wait_for_uart();
    }
    *cg_register(cg_board.uart_address + RXDRDY) = 0;
    return (uint8_t)*cg_register(cg_board.uart_address + RXD);
}
