/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uart_none.c -- boards whose UART has no driver here. The firmware starts, sets the memories up
 * and sleeps: it is there to be linked, sized and debugged. The program refuses --port on such a
 * board.
 */
#include "cg_port.h"

void cg_uart_open(void)
{
}

void cg_uart_put(uint8_t byte)
{
    (void)byte;
}

uint8_t cg_uart_get(void)
{
    for (;;) {
        __asm__ volatile("wfi");
    }
}
