/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_mpccr.c -- cycles of the RISC-V cores of Espressif that lack mcycle (ESP32-C3, C6).
 * Source: ESP32-C3 Technical Reference Manual, chapter ESP-RISC-V CPU, performance counters.
 */
#include "cg_port.h"

const uint8_t cg_counter_bits = 32;

void cg_counter_start(void)
{
    CG_CSR_WRITE(0x7e0, 1); /* mpcer: cycles */
    CG_CSR_WRITE(0x7e1, 1); /* mpcmr: counts, and wraps */
}

uint64_t cg_counter_read(void)
{
    uint32_t value;
    CG_CSR_READ(0x7e2, value);
    return value;
}
