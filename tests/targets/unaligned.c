/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unaligned.c -- a QEMU TCG plugin: which loads and stores of a program are not aligned.
 *
 * QEMU lets them pass where many cores trap. Argument: out=FILE, which begins with a line at the
 * first access of all and has a further one for each of the first unaligned ones: address of the
 * instruction, of the access, its bytes. Each line is written at once, so that the file is whole
 * however QEMU ends.
 */
#include "plugin_api.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_LINES 20u

int qemu_plugin_version = QEMU_PLUGIN_API;

static FILE *file;
static unsigned int lines;

static void accessed(unsigned int core, qemu_plugin_meminfo_t info, uint64_t address, void *user)
{
    (void)core;
    const uint64_t bytes = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    if (lines == 0) {
        fprintf(file, "watching\n");
    } else if ((address & (bytes - 1)) == 0 || lines > MOST_LINES) {
        return;
    } else {
        fprintf(file, "0x%" PRIxPTR " at 0x%" PRIx64 ": %" PRIu64 " bytes\n", (uintptr_t)user,
                address, bytes);
    }
    fflush(file);
    lines++;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(block, i);
        void *const address = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, READS_AND_WRITES, address);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    if (argc == 1 && strncmp(argv[0], "out=", 4) == 0) {
        file = fopen(argv[0] + 4, "w");
    }
    if (file == NULL) {
        fprintf(stderr, "unaligned: cannot make the file of accesses\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
