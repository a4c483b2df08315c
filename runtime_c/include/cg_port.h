/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_port.h -- what the test link needs of a board: one UART, one counter, the MPU, some set-up.
 * Each is one file of runtime_c/port or of the core's family, chosen by the board; `cg_board` is
 * rendered for the board. What the link needs of the core itself is in cg_core.h.
 * Never part of a product build.
 */
#ifndef CG_PORT_H
#define CG_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Addresses [start, end). */
typedef struct {
    uint32_t start;
    uint32_t end;
} cg_port_range;

/* A region's pool section: bytes [front, start) and [end, guard_end) belong to nobody. */
typedef struct {
    uint8_t *front;
    uint8_t *start;
    uint8_t *end;
    uint8_t *guard_end;
    uint32_t region_start;
    bool data_region; /* also holds stack, data and bss */
} cg_port_pools;

/* One step of set-up: register = (register & ~clear) | set, then until all bits of `wait` are set.
 */
typedef struct {
    uint32_t address;
    uint32_t clear;
    uint32_t set;
    uint32_t wait;
} cg_port_write;

/* Rights of unprivileged code in a range; a range that is not listed is closed to it. */
typedef enum {
    CG_MPU_READ_ONLY, /* and execute */
    CG_MPU_READ_WRITE,
    CG_MPU_CLOSED /* to privileged code too, where the MPU can say so */
} cg_mpu_access;

typedef struct {
    uint32_t floor; /* well-aligned address at or below start: opened too where the MPU is coarse */
    uint32_t start;
    uint32_t end;
    cg_mpu_access access;
} cg_mpu_range;

typedef struct {
    const char *name;
    const cg_port_range *read_only; /* code and constants; the first holds the vectors */
    uint32_t read_only_count;
    const cg_port_pools *pools;
    uint32_t pools_count;
    const cg_port_range *holes; /* absent on the chip, or NULL: closed to all */
    uint32_t hole_count;
    uint32_t uart_address;
    uint32_t uart_divider;   /* clock / baud rate, rounded */
    uint32_t uart_interrupt; /* its number at the interrupt controller, or CG_NO_INTERRUPT */
    uint32_t counter_address;
    uint8_t *stack_start; /* of the model */
    uint8_t *stack_end;
    uint8_t *link_stack_start;
    uint8_t *link_stack_end;
    uint8_t *data_end;   /* first address behind data and bss */
    uint8_t *free_start; /* memory nobody uses: inputs are kept here between inferences */
    uint8_t *free_end;
    uint8_t *frame; /* buffer for one frame, decoded */
    uint32_t frame_bytes;
    cg_mpu_range *ranges; /* room for all that the MPU is to be told of */
    uint32_t range_count;
    const struct cg_core1 *core1; /* cg_link.h; NULL: core 0 runs every step */
} cg_board_info;

extern const cg_board_info cg_board;

/* Turns the core's caches on, if the board has any: invalidated first; not if they are on. */
void cg_cache_enable(void);

/* Clocks and pins the drivers below need. */
void cg_setup_board(void);

/* 8 data bits, no parity, one stop bit, no flow control. */
void cg_uart_open(void);
void cg_uart_put(uint8_t byte);
/* Waits for a byte. */
uint8_t cg_uart_get(void);

/* Counts up and wraps behind cg_counter_bits. */
extern const uint8_t cg_counter_bits;
void cg_counter_start(void);
uint64_t cg_counter_read(void);

#define CG_NO_INTERRUPT 0xFFFFFFFFu

#ifndef CG_PAUSE_LOOPS
#define CG_PAUSE_LOOPS 32u
#endif

#define CG_MPU_REGIONS 8u /* every MPU of the cores we know has at least these */

/* Ranges that are exact begin and end at multiples of this, a power of two. */
extern const uint32_t cg_mpu_granule_bytes;
/* Regions the core has; 0: it has no MPU. */
uint32_t cg_mpu_regions(void);
/*
 * Sets up the MPU for unprivileged code. Ends are rounded up to what the MPU can express.
 * Privileged code keeps access to everything but closed ranges. The MPU stays off on a core without
 * one, and where it has fewer regions than there are ranges.
 */
void cg_mpu_open(const cg_mpu_range *ranges, uint32_t count);
/*
 * Opens one range more, exactly: both ends are multiples of cg_mpu_granule_bytes, and it overlaps
 * no other. False if no region is left, or this MPU cannot.
 */
bool cg_mpu_add(const cg_mpu_range *range);
/* Below `limit` no stack pointer of the model may go, where the core can say so. */
void cg_mpu_limit_stack(uint32_t limit);

static inline volatile uint32_t *cg_register(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

/*
 * Between two looks at a register that says "not yet": each look stops an emulator, which then
 * gets on slower with what is waited for. Far below the time of a byte at any baud rate used.
 */
static inline void cg_pause(void)
{
    for (uint32_t i = 0; i < CG_PAUSE_LOOPS; i++) {
        __asm__ volatile("nop");
    }
}

#include "cg_core.h"

#endif /* CG_PORT_H */
