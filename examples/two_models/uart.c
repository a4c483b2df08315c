/* SPDX-License-Identifier: 0BSD */
/* uart.c -- UART 0 of the MPS2 (CMSDK APB UART), 115,200 baud from 25 MHz, sending only. */
#include "uart.h"

typedef struct {
    volatile uint32_t data;
    volatile uint32_t state;
    volatile uint32_t control;
    volatile uint32_t interrupt;
    volatile uint32_t divider;
} uart_registers;

#define UART0         ((uart_registers *)0x40004000u)
#define TRANSMIT_FULL 1u
#define TRANSMIT_ON   1u

void uart_open(void)
{
    UART0->divider = 25000000u / 115200u;
    UART0->control = TRANSMIT_ON;
}

void uart_text(const char *text)
{
    for (; *text != '\0'; text++) {
        while ((UART0->state & TRANSMIT_FULL) != 0u) {
        }
        UART0->data = (uint8_t)*text;
    }
}

void uart_number(uint32_t number)
{
    char text[11];
    char *first = &text[10];
    *first = '\0';
    do {
        first--;
        *first = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0u);
    uart_text(first);
}
