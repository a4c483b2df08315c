/* SPDX-License-Identifier: 0BSD */
/* uart.h -- text out of UART 0 of the MPS2. */
#ifndef UART_H
#define UART_H

#include <stdint.h>

void uart_open(void);
void uart_text(const char *text);
void uart_number(uint32_t number);

#endif /* UART_H */
