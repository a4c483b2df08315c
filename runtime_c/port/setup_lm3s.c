/* SPDX-License-Identifier: Apache-2.0 */
/* setup_lm3s.c -- LM3S6965: UART0 on PA0 and PA1. */
#include "cg_port.h"

#define RCGC1       0x400FE104u
#define RCGC2       0x400FE108u
#define GPIOA_AFSEL 0x40004420u
#define GPIOA_DEN   0x4000451Cu

#define RCGC1_UART0 (1u << 0)
#define RCGC2_GPIOA (1u << 0)
#define PINS        3u

void cg_setup_board(void)
{
    *cg_register(RCGC1) |= RCGC1_UART0;
    *cg_register(RCGC2) |= RCGC2_GPIOA;
    (void)*cg_register(RCGC2); /* three clocks must pass before the port is touched */
    (void)*cg_register(RCGC2);
    *cg_register(GPIOA_AFSEL) |= PINS;
    *cg_register(GPIOA_DEN) |= PINS;
}
