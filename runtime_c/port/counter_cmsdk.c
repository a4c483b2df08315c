/* SPDX-License-Identifier: Apache-2.0 */
/* counter_cmsdk.c -- timer of Arm's CMSDK: 32 bits, counts down. */
#include "cg_port.h"

#define CTRL   0x0u
#define VALUE  0x4u
#define RELOAD 0x8u

#define CTRL_ENABLE (1u << 0)

const uint8_t cg_counter_bits = 32;

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + RELOAD) = 0xFFFFFFFFu;
    *cg_register(cg_board.counter_address + VALUE) = 0xFFFFFFFFu;
    *cg_register(cg_board.counter_address + CTRL) = CTRL_ENABLE;
}

uint64_t cg_counter_read(void)
{
    return ~*cg_register(cg_board.counter_address + VALUE);
}
