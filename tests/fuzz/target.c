/*
 * target.c -- runs the calls of a fuzz program and says which went wrong, by semihosting.
 *
 * Lines: `wrong ENTRY WHAT AT` (what: result, argument, guard; at: a byte), `fault ENTRY`, after
 * which the program ends, and `done COUNT`. The command line's second word is the first entry to
 * run.
 */
#include "target.h"

#include <stdbool.h>
#include <string.h>

#define SYS_WRITE0      0x04
#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT        0x18
#define STOPPED_BY_EXIT ((void *)0x20026)

extern uint8_t fuzz_stack_end[];
extern uint8_t fuzz_bss_start[];
extern uint8_t fuzz_bss_end[];

void cg_reset(void);
void fuzz_fault(void);

static uint32_t current;
static char text[96];

static void semihost(int operation, void *argument)
{
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

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

typedef union {
    uint8_t *stack;
    void (*function)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = fuzz_stack_end}, {.function = cg_reset},   {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},  {.function = fuzz_fault}, {.function = fuzz_fault},
    {.function = fuzz_fault},
};

/* ---- memory protection: what is not listed is closed ------------------------------------ */

#if FUZZ_MPU != 0
static volatile uint32_t *at_address(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

#define MPU_CTRL  0xE000ED94u
#define MPU_RNR   0xE000ED98u
#define MPU_RBAR  0xE000ED9Cu
#define MPU_RASR  0xE000EDA0u /* v8-M: RLAR */
#define MPU_MAIR0 0xE000EDC0u

static void protect(void)
{
    for (uint32_t i = 0; i < fuzz_range_count; i++) {
        const fuzz_range *const range = &fuzz_ranges[i];
        *at_address(MPU_RNR) = i;
#if FUZZ_MPU == 7
        uint32_t log2 = 0;
        while ((1u << log2) < range->size) {
            log2++;
        }
        const uint32_t access =
            (range->is_read_only != 0u) ? (6u << 24) : ((3u << 24) | (1u << 28));
        *at_address(MPU_RBAR) = range->start;
        *at_address(MPU_RASR) = access | (0xBu << 16) | ((log2 - 1u) << 1) | 1u;
#else
        const uint32_t access = (range->is_read_only != 0u) ? (2u << 1) : 1u;
        *at_address(MPU_MAIR0) = 0xFFu;
        *at_address(MPU_RBAR) = range->start | access;
        *at_address(MPU_RASR) = ((range->start + range->size - 1u) & ~31u) | 1u;
#endif
    }
    *at_address(MPU_CTRL) = 1u;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#endif

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

void cg_reset(void)
{
#if FUZZ_FPU != 0
    *at_address(0xE000ED88u) |= 0xFu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    for (uint8_t *byte = fuzz_bss_start; byte < fuzz_bss_end; byte++) {
        *byte = 0;
    }
#if FUZZ_MPU != 0
    *at_address(0xE000ED08u) = (uint32_t)(uintptr_t)vectors;
    protect();
#endif
    current = first_entry();
    for (; current < fuzz_entry_count; current++) {
        run(&fuzz_entries[current]);
    }
    say("done", fuzz_entry_count, NULL, 0);
    leave();
}
