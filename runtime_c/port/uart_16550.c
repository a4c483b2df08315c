/* SPDX-License-Identifier: Apache-2.0 */
/* uart_16550.c -- the UART of PCs, its registers a byte apart. */
#include "cg_port.h"

#define DATA    0u
#define IER     1u
#define FCR     2u
#define LCR     3u
#define LSR     5u
#define DIVISOR 0u /* while LCR_DIVISOR is set; its upper byte lies behind */

#define IER_RECEIVED (1u << 0)
#define FCR_ENABLE   7u /* with both queues cleared */
#define LCR_8_BITS   3u
#define LCR_DIVISOR  0x80u
#define LSR_RECEIVED (1u << 0)
#define LSR_SENT     (1u << 5)

static volatile uint8_t *place(uint32_t offset)
{
    return (volatile uint8_t *)(uintptr_t)(cg_board.uart_address + offset);
}

void cg_uart_open(void)
{
    const uint32_t sixteenth = (cg_board.uart_divider + 8u) / 16u;
    const uint32_t divisor = sixteenth == 0 ? 1u : sixteenth;
    *place(LCR) = LCR_DIVISOR;
    *place(DIVISOR) = (uint8_t)divisor;
    *place(DIVISOR + 1u) = (uint8_t)(divisor >> 8);
    *place(LCR) = LCR_8_BITS;
    *place(FCR) = FCR_ENABLE;
    *place(IER) = IER_RECEIVED;
}

void cg_uart_put(uint8_t byte)
{
    while ((*place(LSR) & LSR_SENT) == 0) {
    }
    *place(DATA) = byte;
}

uint8_t cg_uart_get(void)
{
    while ((*place(LSR) & LSR_RECEIVED) == 0) {
        cg_wait_for_uart();
    }
    return *place(DATA);
}
