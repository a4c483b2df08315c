/* SPDX-License-Identifier: Apache-2.0 */
/* counter_stm32_tim.c -- a 32-bit timer of an STM32 (TIM2, TIM5), one tick a timer clock. */
#include "cg_port.h"

#define CR1 0x00u
#define EGR 0x14u
#define CNT 0x24u
#define PSC 0x28u
#define ARR 0x2Cu

#define CR1_CEN (1u << 0)
#define EGR_UG  (1u << 0)

const uint8_t cg_counter_bits = 32;

void cg_counter_start(void)
{
    *cg_register(cg_board.counter_address + PSC) = 0;
    *cg_register(cg_board.counter_address + ARR) = 0xFFFFFFFFu;
    *cg_register(cg_board.counter_address + EGR) = EGR_UG;
    *cg_register(cg_board.counter_address + CR1) = CR1_CEN;
}

uint64_t cg_counter_read(void)
{
    return *cg_register(cg_board.counter_address + CNT);
}
