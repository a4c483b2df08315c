/* SPDX-License-Identifier: Apache-2.0 */
/* flash.c -- see flash.h. */
#include "flash.h"

#include <stdlib.h>

static const uint64_t NO_LINE = UINT64_MAX;

static bool start_cache(flash_cache *cache, uint64_t rows, uint64_t row_bytes)
{
    cache->rows = rows;
    cache->row_bytes = row_bytes;
    cache->uses = 0;
    cache->current = NO_LINE;
    cache->held = calloc(rows == 0 ? 1 : rows, sizeof(flash_row));
    return cache->held != NULL;
}

bool flash_start(flash_model *flash, const uint64_t settings[FLASH_SETTINGS])
{
    flash->wait_states = settings[FLASH_WAIT_STATES];
    flash->read_bytes = settings[FLASH_READ_BYTES];
    flash->prefetch = settings[FLASH_PREFETCH] != 0;
    flash->prefetched = NO_LINE;
    flash->ready = 0;
    return start_cache(&flash->code, settings[FLASH_CODE_ROWS], settings[FLASH_CODE_ROW_BYTES]) &&
           start_cache(&flash->data, settings[FLASH_DATA_ROWS], settings[FLASH_DATA_ROW_BYTES]);
}

/* The row that holds or would hold a line, and the line's bit in it. */
static uint64_t row_of(const flash_model *flash, const flash_cache *cache, uint64_t line,
                       uint64_t *bit)
{
    const uint64_t lines = cache->row_bytes / flash->read_bytes;
    *bit = UINT64_C(1) << (line % lines);
    return line / lines;
}

static flash_row *find(const flash_cache *cache, uint64_t row)
{
    for (uint64_t i = 0; i < cache->rows; i++) {
        if (cache->held[i].lines != 0 && cache->held[i].row == row) {
            return &cache->held[i];
        }
    }
    return NULL;
}

static bool holds(const flash_model *flash, const flash_cache *cache, uint64_t line)
{
    uint64_t bit;
    const flash_row *const found = find(cache, row_of(flash, cache, line, &bit));
    return found != NULL && (found->lines & bit) != 0;
}

/* The line is used: its row is the most recent one, and has it from now on. */
static void use(const flash_model *flash, flash_cache *cache, uint64_t line)
{
    uint64_t bit;
    const uint64_t row = row_of(flash, cache, line, &bit);
    flash_row *found = find(cache, row);
    if (cache->rows == 0) {
        return;
    }
    if (found == NULL) {
        found = &cache->held[0]; /* a row never used counts as used least recently */
        for (uint64_t i = 1; i < cache->rows; i++) {
            if (cache->held[i].used < found->used) {
                found = &cache->held[i];
            }
        }
        found->row = row;
        found->lines = 0;
    }
    found->lines |= bit;
    found->used = ++cache->uses;
}

/* Bytes left of a reading that is under way. */
static uint64_t rest(const flash_model *flash, uint64_t now)
{
    return flash->ready > now ? flash->ready - now : 0;
}

static uint64_t line_access(flash_model *flash, flash_cache *cache, uint64_t line, uint64_t now)
{
    uint64_t wait = 0;
    if (line == cache->current) {
        return 0;
    }
    cache->current = line;
    if (holds(flash, cache, line)) {
        use(flash, cache, line);
    } else if (cache == &flash->code && line == flash->prefetched) {
        wait = rest(flash, now);
    } else {
        wait = rest(flash, now) + flash->wait_states;
        use(flash, cache, line);
    }
    if (cache == &flash->code && flash->prefetch && line + 1 != flash->prefetched &&
        !holds(flash, cache, line + 1)) {
        const uint64_t begin = now + wait + rest(flash, now + wait);
        flash->prefetched = line + 1;
        flash->ready = begin + flash->wait_states;
    }
    return wait;
}

static uint64_t all_lines(flash_model *flash, flash_cache *cache, uint64_t address, uint64_t bytes,
                          uint64_t now)
{
    uint64_t wait = 0;
    const uint64_t last = (address + bytes - 1) / flash->read_bytes;
    for (uint64_t line = address / flash->read_bytes; line <= last; line++) {
        wait += line_access(flash, cache, line, now + wait);
    }
    return wait;
}

uint64_t flash_fetch(flash_model *flash, uint64_t address, uint64_t bytes, uint64_t now)
{
    return all_lines(flash, &flash->code, address, bytes, now);
}

uint64_t flash_load(flash_model *flash, uint64_t address, uint64_t bytes, uint64_t now)
{
    return all_lines(flash, &flash->data, address, bytes, now);
}
