/* SPDX-License-Identifier: Apache-2.0 */
/* uart_cmsdk.c -- UART of Arm's CMSDK, in the MPS2 and MPS3 images. */
#include "cg_port.h"

#define DATA    0x00u
#define STATE   0x04u
#define CTRL    0x08u
#define INTS    0x0Cu
#define BAUDDIV 0x10u

#define STATE_TX_FULL (1u << 0)
#define STATE_RX_FULL (1u << 1)
#define CTRL_TX       (1u << 0)
#define CTRL_RX       (1u << 1)
#define CTRL_RX_INT   (1u << 3)
#define INTS_RX       (1u << 1)

#define BAUDDIV_MIN 16u

void cg_uart_open(void)
{
    const uint32_t divider = cg_board.uart_divider;
    *cg_register(cg_board.uart_address + BAUDDIV) = divider < BAUDDIV_MIN ? BAUDDIV_MIN : divider;
    *cg_register(cg_board.uart_address + CTRL) = CTRL_TX | CTRL_RX | CTRL_RX_INT;
    (void)*cg_register(cg_board.uart_address + DATA); /* drops what came before; QEMU: look again */
}

void cg_uart_put(uint8_t byte)
{
    while ((*cg_register(cg_board.uart_address + STATE) & STATE_TX_FULL) != 0) {
    }
    *cg_register(cg_board.uart_address + DATA) = byte;
}

uint8_t cg_uart_get(void)
{
    while ((*cg_register(cg_board.uart_address + STATE) & STATE_RX_FULL) == 0) {
        *cg_register(cg_board.uart_address + INTS) = INTS_RX;
        cg_wait_for_uart();
    }
    return (uint8_t)*cg_register(cg_board.uart_address + DATA);
}
