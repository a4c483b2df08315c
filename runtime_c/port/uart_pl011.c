/* SPDX-License-Identifier: Apache-2.0 */
/* uart_pl011.c -- Arm PL011, also the UART of the LM3S family. */
#include "cg_port.h"

#define DR   0x00u
#define FR   0x18u
#define IBRD 0x24u
#define FBRD 0x28u
#define LCRH 0x2Cu
#define CR   0x30u
#define IMSC 0x38u

#define FR_RX_EMPTY (1u << 4)
#define FR_TX_FULL  (1u << 5)
#define LCRH_8_BITS (3u << 5)
#define LCRH_FIFO   (1u << 4)
#define CR_ENABLE   (1u << 0)
#define CR_TX       (1u << 8)
#define CR_RX       (1u << 9)
#define IMSC_RX     (1u << 4) /* enough bytes in the FIFO */
#define IMSC_LATE   (1u << 6) /* fewer, and no other follows */

void cg_uart_open(void)
{
    const uint32_t divider = cg_board.uart_divider; /* 16 samples a bit, 6 fractional bits */
    *cg_register(cg_board.uart_address + CR) = 0;
    *cg_register(cg_board.uart_address + IBRD) = divider / 16u;
    *cg_register(cg_board.uart_address + FBRD) = (divider % 16u) * 4u;
    *cg_register(cg_board.uart_address + LCRH) = LCRH_8_BITS | LCRH_FIFO;
    *cg_register(cg_board.uart_address + CR) = CR_ENABLE | CR_TX | CR_RX;
    *cg_register(cg_board.uart_address + IMSC) = IMSC_RX | IMSC_LATE;
}

void cg_uart_put(uint8_t byte)
{
    while ((*cg_register(cg_board.uart_address + FR) & FR_TX_FULL) != 0) {
    }
    *cg_register(cg_board.uart_address + DR) = byte;
}

uint8_t cg_uart_get(void)
{
    while ((*cg_register(cg_board.uart_address + FR) & FR_RX_EMPTY) != 0) {
        cg_wait_for_uart();
    }
    return (uint8_t)*cg_register(cg_board.uart_address + DR);
}
