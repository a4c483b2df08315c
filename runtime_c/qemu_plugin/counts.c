/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c -- a QEMU TCG plugin: how often each instruction of a firmware runs, step by step.
 *
 * Loaded into qemu-system-arm on this machine, never part of a firmware. Arguments:
 *   out=FILE    written: `steps` tables of `halfwords` entries {executions, taken, code waits, data
 * waits}, 64 bits each base=A size=B   addresses of the code that is counted begin=A end=A   where
 * cg_step_begin and cg_step_end start steps=N     calls of each in one inference (none in steps
 * without code: table k is of the k-th step that has any) flash=A flashsize=B wait=W
 * read=R prefetch=0|1 coderows=N coderow=B datarows=N datarow=B model the wait states of that flash
 * (flash.h); without flashsize there are none Entry i stands for the instruction at base + 2 * i;
 * `taken` counts how often execution went on elsewhere than behind it; the waits are cycles that
 * its fetches and its loads waited for the flash. The flash's time is instructions and waits: never
 * more than the cycles that pass, so that a prefetch is never further than it would be. All that
 * runs goes through its caches, also what is not counted (the hooks, the test link). A table holds
 * the last inference's step: each run replaces it. FILE is mapped, so that what is in it survives
 * however QEMU ends.
 */
#include "flash.h"
#include "instruction_bytes.h"
#include "plugin_api.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int qemu_plugin_version = QEMU_PLUGIN_API;

typedef struct {
    uint64_t executions;
    uint64_t taken;
    uint64_t code_waits;
    uint64_t data_waits;
} entry;

/* A translated block: where it starts, ends, and the entry of its last instruction. */
typedef struct {
    uint64_t start;
    uint64_t end;
    entry *last;
} block_info;

/* An instruction that may wait for the flash; its entry, or NULL where nothing is counted. */
typedef struct {
    uint64_t address;
    uint64_t bytes;
    entry *place;
} fetch_info;

static struct {
    const char *path;
    uint64_t base;
    uint64_t size;
    uint64_t begin;
    uint64_t end;
    uint64_t steps;
    uint64_t flash;
    uint64_t flash_size;
    uint64_t settings[FLASH_SETTINGS];
} given;

static entry *now;     /* since the last cg_step_begin */
static entry *tables;  /* the mapped file */
static size_t entries; /* of one table */
static uint64_t calls; /* of cg_step_end so far */
static const block_info *previous;
static flash_model flash;
static counters executed; /* [0]: all instructions, with a flash only; [1 + i]: entry i */
static uint64_t waits;    /* all cycles waited for the flash */

static void step_begins(unsigned int core, void *user)
{
    (void)core;
    (void)user;
    memset(now, 0, entries * sizeof(entry));
    counters_clear(&executed, 1, entries);
}

static void step_ends(unsigned int core, void *user)
{
    (void)core;
    (void)user;
    entry *const table = &tables[(calls % given.steps) * entries];
    memcpy(table, now, entries * sizeof(entry));
    for (size_t i = 0; i < entries; i++) {
        table[i].executions = counters_sum(&executed, 1 + i);
    }
    calls++;
}

static void block_runs(unsigned int core, void *user)
{
    (void)core;
    const block_info *const block = user;
    if (previous != NULL && previous->last != NULL && block->start != previous->end) {
        previous->last->taken++;
    }
    previous = block;
}

static bool in_flash(uint64_t address)
{
    return address >= given.flash && address - given.flash < given.flash_size;
}

static void fetched(unsigned int core, void *user)
{
    (void)core;
    const fetch_info *const insn = user;
    const uint64_t wait =
        flash_fetch(&flash, insn->address, insn->bytes, counters_sum(&executed, 0) + waits);
    waits += wait;
    if (insn->place != NULL) {
        insn->place->code_waits += wait;
    }
}

/* Asked for stores too: QEMU 7.2 takes the wrong ones when only loads are asked for. */
static void loaded(unsigned int core, qemu_plugin_meminfo_t info, uint64_t address, void *user)
{
    (void)core;
    if (!in_flash(address) || qemu_plugin_mem_is_store(info)) {
        return;
    }
    const uint64_t bytes = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    const uint64_t wait = flash_load(&flash, address, bytes, counters_sum(&executed, 0) + waits);
    waits += wait;
    if (user != NULL) {
        ((entry *)user)->data_waits += wait;
    }
}

static entry *entry_of(uint64_t address)
{
    const bool inside = address >= given.base && address < given.base + given.size;
    return inside ? &now[(address - given.base) / 2] : NULL;
}

/*
 * Bytes of an instruction by its first halfword, as the core's family tells them. QEMU's own
 * qemu_plugin_insn_size says 2 too many for the one in front of a page's last halfword, where the
 * translator has looked ahead.
 */
static uint64_t size_of(const struct qemu_plugin_insn *insn)
{
    uint8_t bytes[2];
    first_halfword(insn, bytes);
    return instruction_bytes(bytes);
}

/*
 * Let an instruction wait for the flash. `line` is the one the instruction in front of it in its
 * block ended in: fetching from that again is no access. Returns the line this one ends in.
 */
static uint64_t watch(struct qemu_plugin_insn *insn, entry *place, uint64_t line)
{
    const uint64_t address = qemu_plugin_insn_vaddr(insn);
    const uint64_t bytes = size_of(insn);
    const uint64_t last = (address + bytes - 1) / flash.read_bytes;
    if (in_flash(address) && (address / flash.read_bytes != line || last != line)) {
        fetch_info *const info = calloc(1, sizeof(fetch_info));
        if (info == NULL) {
            abort();
        }
        *info = (fetch_info){address, bytes, place};
        qemu_plugin_register_vcpu_insn_exec_cb(insn, fetched, NO_REGISTERS, info);
    }
    qemu_plugin_register_vcpu_mem_cb(insn, loaded, NO_REGISTERS, READS_AND_WRITES, place);
    counters_count(&executed, insn, 0);
    return last;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    const size_t count = qemu_plugin_tb_n_insns(block);
    uint64_t line = UINT64_MAX;
    block_info *const found = calloc(1, sizeof(block_info));
    if (found == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(block, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        if (i == 0) {
            found->start = address;
        }
        found->end = address + size_of(insn);
        found->last = entry_of(address);
        if (found->last != NULL) {
            counters_count(&executed, insn, 1 + (size_t)(found->last - now));
        }
        if (given.flash_size != 0) {
            line = watch(insn, found->last, line);
        }
        if (address == given.begin) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, step_begins, NO_REGISTERS, NULL);
        }
        if (address == given.end) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, step_ends, NO_REGISTERS, NULL);
        }
    }
    qemu_plugin_register_vcpu_tb_exec_cb(block, block_runs, NO_REGISTERS, found);
}

static bool take(const char *argument)
{
    const char *const equals = strchr(argument, '=');
    if (equals == NULL) {
        return false;
    }
    const struct {
        const char *name;
        uint64_t *place;
    } numbers[] = {
        {"base", &given.base},
        {"size", &given.size},
        {"begin", &given.begin},
        {"end", &given.end},
        {"steps", &given.steps},
        {"flash", &given.flash},
        {"flashsize", &given.flash_size},
        {"wait", &given.settings[FLASH_WAIT_STATES]},
        {"read", &given.settings[FLASH_READ_BYTES]},
        {"prefetch", &given.settings[FLASH_PREFETCH]},
        {"coderows", &given.settings[FLASH_CODE_ROWS]},
        {"coderow", &given.settings[FLASH_CODE_ROW_BYTES]},
        {"datarows", &given.settings[FLASH_DATA_ROWS]},
        {"datarow", &given.settings[FLASH_DATA_ROW_BYTES]},
    };
    const size_t length = (size_t)(equals - argument);
    if (strncmp(argument, "out", length) == 0 && length == 3) {
        given.path = strdup(equals + 1);
        return given.path != NULL;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strlen(numbers[i].name) == length && strncmp(argument, numbers[i].name, length) == 0) {
            *numbers[i].place = strtoull(equals + 1, NULL, 0);
            return true;
        }
    }
    return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!take(argv[i])) {
            fprintf(stderr, "counts: cannot take argument %s\n", argv[i]);
            return 1;
        }
    }
    entries = given.size / 2;
    const size_t bytes = given.steps * entries * sizeof(entry);
    const int file = given.path == NULL ? -1 : open(given.path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || bytes == 0 || ftruncate(file, (off_t)bytes) != 0) {
        fprintf(stderr, "counts: cannot make the file of counts\n");
        return 1;
    }
    void *const mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    now = calloc(entries, sizeof(entry));
    const bool started = given.flash_size == 0 || flash_start(&flash, given.settings);
    const bool counting = counters_start(&executed, 1 + entries);
    if (mapped == MAP_FAILED || now == NULL || !started || !counting) {
        fprintf(stderr, "counts: no memory\n");
        return 1;
    }
    tables = mapped;
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
