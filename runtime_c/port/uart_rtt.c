/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uart_rtt.c -- no UART: the test link's bytes pass through two rings in memory, which a debugger
 * reads and writes while the core runs. Laid out as SEGGER's RTT, so that OpenOCD, probe-rs and
 * J-Link can carry them too; found by its name in memory. Who writes a ring moves `write`, who
 * reads it moves `read`.
 */
#include "cg_port.h"

#define RING_BYTES 512u
#define ID_BYTES   16u

typedef struct {
    const char *name;
    volatile uint8_t *bytes;
    uint32_t size;
    volatile uint32_t write;
    volatile uint32_t read;
    uint32_t flags; /* 2: whoever writes waits for room */
} ring;

typedef struct {
    volatile char id[ID_BYTES];
    uint32_t up_count;
    uint32_t down_count;
    ring up;
    ring down;
} control_block;

static control_block block;
static volatile uint8_t up_bytes[RING_BYTES];
static volatile uint8_t down_bytes[RING_BYTES];

static void barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void open_ring(ring *one, volatile uint8_t *bytes)
{
    one->name = "codegen";
    one->bytes = bytes;
    one->size = RING_BYTES;
    one->write = 0;
    one->read = 0;
    one->flags = 2;
}

void cg_uart_open(void)
{
    /* The name last, and in two parts: nothing but a block that is ready looks like one. */
    static const char first[] = "SEGGER";
    static const char second[] = " RTT";

    block.up_count = 1;
    block.down_count = 1;
    open_ring(&block.up, up_bytes);
    open_ring(&block.down, down_bytes);
    barrier();
    for (uint32_t i = 0; i < sizeof second - 1u; i++) {
        block.id[sizeof first - 1u + i] = second[i];
    }
    barrier();
    for (uint32_t i = 0; i < sizeof first - 1u; i++) {
        block.id[i] = first[i];
    }
    barrier();
}

void cg_uart_put(uint8_t byte)
{
    const uint32_t at = block.up.write;
    const uint32_t next = at + 1u == RING_BYTES ? 0u : at + 1u;

    while (next == block.up.read) {
        cg_pause();
    }
    up_bytes[at] = byte;
    barrier();
    block.up.write = next;
}

uint8_t cg_uart_get(void)
{
    const uint32_t at = block.down.read;
    uint8_t byte;

    while (at == block.down.write) {
        cg_pause();
    }
    barrier();
    byte = down_bytes[at];
    barrier();
    block.down.read = at + 1u == RING_BYTES ? 0u : at + 1u;
    return byte;
}
