/* SPDX-License-Identifier: Apache-2.0 */
/* counter_sse.c -- system counter of an SSE-300 subsystem (control frame): 64 bits. */
#include "cg_port.h"

#define CNTCR    0x0u
#define CNTCV_LO 0x8u
#define CNTCV_HI 0xCu

#define CNTCR_ENABLE (1u << 0)

const uint8_t cg_counter_bits = 64;

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + CNTCR) = CNTCR_ENABLE;
}

uint64_t cg_counter_read(void)
{
    uint32_t high = *cg_register(cg_board.counter_address + CNTCV_HI);
    for (;;) {
        const uint32_t low = *cg_register(cg_board.counter_address + CNTCV_LO);
        const uint32_t again = *cg_register(cg_board.counter_address + CNTCV_HI);
        if (again == high) {
            return ((uint64_t)high << 32) | low;
        }
        high = again;
    }
}
