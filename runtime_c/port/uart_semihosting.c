/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uart_semihosting.c -- no UART: the test link's bytes are semihosting calls, which a debugger
 * answers. As each call stops the core, what is sent is collected: it goes out when there is much
 * of it, and before the firmware waits for more. Without a debugger that answers, the first call
 * is a fault.
 *
 * Source: Semihosting for AArch32 and AArch64 (Arm, 2.0): SYS_OPEN of the console ":tt", SYS_WRITE,
 * SYS_READ; other cores have the same calls.
 */
#include "cg_port.h"

#define CALL_OPEN    0x01u
#define CALL_WRITE   0x05u
#define CALL_READ    0x06u
#define MODE_READ    0u
#define MODE_WRITE   4u
#define BUFFER_BYTES 128u

static uint32_t output;
static uint8_t sent[BUFFER_BYTES];
static uint32_t sent_count;
static uint32_t input;
static uint8_t received[BUFFER_BYTES];
static uint32_t received_at = BUFFER_BYTES;
static uint32_t received_end = BUFFER_BYTES;

static uint32_t address_of(const void *bytes)
{
    return (uint32_t)(uintptr_t)bytes;
}

static uint32_t opened(uint32_t mode)
{
    static const char name[] = ":tt";
    const uint32_t block[] = {address_of(name), mode, sizeof name - 1u};

    return cg_core_call_debugger(CALL_OPEN, block);
}

static void flush(void)
{
    if (sent_count != 0u) {
        const uint32_t block[] = {output, address_of(sent), sent_count};

        (void)cg_core_call_debugger(CALL_WRITE, block);
        sent_count = 0;
    }
}

void cg_uart_open(void)
{
    output = opened(MODE_WRITE);
    input = opened(MODE_READ);
}

void cg_uart_put(uint8_t byte)
{
    sent[sent_count] = byte;
    sent_count++;
    if (sent_count == BUFFER_BYTES) {
        flush();
    }
}

uint8_t cg_uart_get(void)
{
    flush();
    while (received_at == received_end) {
        /* A debugger that leaves meanwhile may fill nothing: zeros are pauses between frames. */
        for (uint32_t i = 0; i < BUFFER_BYTES; i++) {
            received[i] = 0;
        }
        const uint32_t block[] = {input, address_of(received), BUFFER_BYTES};
        const uint32_t left = cg_core_call_debugger(CALL_READ, block);

        received_at = 0;
        received_end = left <= BUFFER_BYTES ? BUFFER_BYTES - left : 0u;
        if (received_end == 0u) {
            cg_pause();
        }
    }
    received_at++;
    return received[received_at - 1u];
}
