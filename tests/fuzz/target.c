/*
 * target.c -- runs the calls of a fuzz program and says which went wrong, by semihosting.
 *
 * Lines: `wrong ENTRY WHAT AT` (what: result, argument, guard; at: a byte), `fault ENTRY`, after
 * which the program ends, and `done COUNT`. The command line's second word is the first entry to
 * run.
 */
#include "fuzz_core.h"

#include <stdbool.h>
#include <string.h>

#define SYS_WRITE0      0x04
#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT        0x18
#define STOPPED_BY_EXIT ((void *)0x20026)

extern uint8_t fuzz_bss_start[];
extern uint8_t fuzz_bss_end[];

static uint32_t current;
static char text[96];

static char *put_text(char *to, const char *from)
{
    while (*from != '\0') {
        *to++ = *from++;
    }
    return to;
}

static char *put_number(char *to, uint32_t value)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + (value % 10u));
        value /= 10u;
    } while (value != 0u);
    *to++ = ' ';
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

static void say(const char *what, uint32_t number, const char *which, uint32_t at)
{
    char *end = put_number(put_text(text, what), number);
    if (which != NULL) {
        *end++ = ' ';
        end = put_number(put_text(end, which), at);
    }
    *end++ = '\n';
    *end = '\0';
    semihost(SYS_WRITE0, text);
}

static void leave(void)
{
    semihost(SYS_EXIT, STOPPED_BY_EXIT);
    for (;;) {
    }
}

void fuzz_fault(void)
{
    say("fault", current, NULL, 0);
    leave();
}

/* ---- one call ---------------------------------------------------------------------------- */

static uint8_t *bytes_at(uint32_t address)
{
    return (uint8_t *)(uintptr_t)address;
}

static void prepare(const fuzz_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const fuzz_buffer *const buffer = &entry->buffers[i];
        uint8_t *const start = bytes_at(buffer->address);
        memset(start - buffer->front, (int)entry->paint,
               (size_t)buffer->front + buffer->size + buffer->back);
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        const fuzz_buffer *const buffer = &entry->buffers[i];
        if (buffer->from != FUZZ_PAINTED) {
            memcpy(bytes_at(buffer->address), &fuzz_blob[buffer->from], buffer->size);
        }
    }
}

static bool is_painted(const uint8_t *start, uint32_t count, uint32_t paint)
{
    for (uint32_t i = 0; i < count; i++) {
        if (start[i] != paint) {
            return false;
        }
    }
    return true;
}

static void check_around(const fuzz_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const fuzz_buffer *const buffer = &entry->buffers[i];
        const uint8_t *const start = bytes_at(buffer->address);
        if (!is_painted(start - buffer->front, buffer->front, entry->paint) ||
            !is_painted(start + buffer->size, buffer->back, entry->paint)) {
            say("wrong", current, "guard", i);
        }
        if ((buffer->is_kept != 0u) &&
            (memcmp(start, &fuzz_blob[buffer->from], buffer->size) != 0)) {
            say("wrong", current, "argument", i);
        }
    }
}

static bool is_equal(float got, float wanted, const fuzz_entry *entry)
{
    if ((got == wanted) || ((got != got) && (wanted != wanted))) {
        return true;
    }
    const float difference = (got > wanted) ? (got - wanted) : (wanted - got);
    return (entry->kind == FUZZ_NEAR) && (difference <= entry->tolerance);
}

static void check_result(const fuzz_entry *entry)
{
    const uint8_t *const got = bytes_at(entry->buffers[0].address);
    const uint8_t *const wanted = &fuzz_blob[entry->expected];
    const uint32_t size = entry->buffers[0].size;
    if (memcmp(got, wanted, size) == 0) {
        return;
    }
    for (uint32_t i = 0; i < size; i += (entry->kind == FUZZ_BYTES) ? 1u : 4u) {
        bool same = got[i] == wanted[i];
        if (entry->kind != FUZZ_BYTES) {
            float pair[2];
            memcpy(&pair[0], &got[i], sizeof pair[0]);
            memcpy(&pair[1], &wanted[i], sizeof pair[1]);
            same = is_equal(pair[0], pair[1], entry);
        }
        if (!same) {
            say("wrong", current, "result", i);
            return;
        }
    }
}

static void run(const fuzz_entry *entry)
{
    uint8_t *at[FUZZ_MOST_BUFFERS];
    for (uint32_t i = 0; i < entry->count; i++) {
        at[i] = bytes_at(entry->buffers[i].address);
    }
    prepare(entry);
    entry->call(at, entry->of, entry->n);
    check_around(entry);
    check_result(entry);
}

/* The number behind the first space of the command line. */
static uint32_t first_entry(void)
{
    struct {
        char *line;
        uint32_t size;
    } block = {text, sizeof text};
    semihost(SYS_GET_CMDLINE, &block);
    const char *word = text;
    while ((*word != ' ') && (*word != '\0')) {
        word++;
    }
    uint32_t found = 0;
    for (; *word != '\0'; word++) {
        found = (*word == ' ') ? found : ((found * 10u) + (uint32_t)(*word - '0'));
    }
    return found;
}

void fuzz_main(void)
{
    set_up_core();
    for (uint8_t *byte = fuzz_bss_start; byte < fuzz_bss_end; byte++) {
        *byte = 0;
    }
    protect();
    current = first_entry();
    for (; current < fuzz_entry_count; current++) {
        run(&fuzz_entries[current]);
    }
    say("done", fuzz_entry_count, NULL, 0);
    leave();
}
