/* SPDX-License-Identifier: Apache-2.0 */
/* counter_nrf51.c -- TIMER0 of an nRF51: 32 bits at 16 MHz. */
#include "cg_port.h"

#define TASKS_START    0x000u
#define TASKS_CLEAR    0x00Cu
#define TASKS_CAPTURE0 0x040u
#define MODE           0x504u
#define BITMODE        0x508u
#define PRESCALER      0x510u
#define CC0            0x540u

#define MODE_TIMER      0u
#define BITMODE_32_BITS 3u

const uint8_t cg_counter_bits = 32;

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + MODE) = MODE_TIMER;
    *cg_register(cg_board.counter_address + BITMODE) = BITMODE_32_BITS;
    *cg_register(cg_board.counter_address + PRESCALER) = 0;
    *cg_register(cg_board.counter_address + TASKS_CLEAR) = 1;
    *cg_register(cg_board.counter_address + TASKS_START) = 1;
}

uint64_t cg_counter_read(void)
{
    *cg_register(cg_board.counter_address + TASKS_CAPTURE0) = 1;
    return *cg_register(cg_board.counter_address + CC0);
}
