/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash.h -- flash memory behind wait states, as a program meets it: rows of instruction and data
 * cache, a current line on each side, and a prefetch of the next line of code.
 *
 * A flash is read in lines of `read_bytes` bytes (both sides share it). A cache has `rows` rows of
 * `row_bytes`, any of which may hold any address, and remembers of a row which of its lines it has:
 * only the line that is read is filled. The row used least recently makes room. Without rows there
 * is no cache but the current line. With `prefetch`, as soon as another line of code becomes the
 * current one, the next line is read if neither the cache nor the prefetched line is it; a
 * prefetched line that is used is not copied into the cache. One reading at a time: who comes
 * during a prefetch waits for its end.
 */
#ifndef CODEGEN_QEMU_PLUGIN_FLASH_H
#define CODEGEN_QEMU_PLUGIN_FLASH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t row;   /* address / row_bytes */
    uint64_t lines; /* bit i: line i of the row is here; 0: the row is empty */
    uint64_t used;  /* when it was used last */
} flash_row;

typedef struct {
    flash_row *held;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t uses;
    uint64_t current; /* address / read_bytes of the current line, NO_LINE before the first */
} flash_cache;

typedef struct {
    uint64_t wait_states;
    uint64_t read_bytes;
    bool prefetch;
    flash_cache code;
    flash_cache data;
    uint64_t prefetched; /* a line, or NO_LINE */
    uint64_t ready;      /* the time at which it is there and the flash is free again */
} flash_model;

/*
 * An empty flash. Sizes are powers of two, a row has 1 to 64 lines, wait_states is at least 0.
 * False if there is no memory.
 */
bool flash_start(flash_model *flash, const uint64_t settings[7]);

enum {
    FLASH_WAIT_STATES,
    FLASH_READ_BYTES,
    FLASH_PREFETCH,
    FLASH_CODE_ROWS,
    FLASH_CODE_ROW_BYTES,
    FLASH_DATA_ROWS,
    FLASH_DATA_ROW_BYTES,
    FLASH_SETTINGS
};

/* Cycles the core waits for `bytes` >= 1 bytes of code, or of data, at `address` at the time `now`
 * (cycles). */
uint64_t flash_fetch(flash_model *flash, uint64_t address, uint64_t bytes, uint64_t now);
uint64_t flash_load(flash_model *flash, uint64_t address, uint64_t bytes, uint64_t now);

#endif
