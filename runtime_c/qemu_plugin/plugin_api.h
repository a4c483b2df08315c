/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_api.h -- the part used of QEMU's plugin interface, and counters that it adds to.
 *
 * QEMU_PLUGIN_API is the version of that interface: 1 for QEMU 6.0 to 8.2, 2 for 9.0, 3 from 9.1.
 * The caller of the compiler says which. What differs: from 2 inline counters lie in a scoreboard,
 * one row a core, instead of anywhere; from 3 an instruction's bytes are copied out.
 */
#ifndef CG_PLUGIN_API_H
#define CG_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef QEMU_PLUGIN_API
#error "say which plugin interface QEMU has: -DQEMU_PLUGIN_API=1, 2 or 3"
#endif

typedef uint64_t qemu_plugin_id_t;
struct qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translate_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*execute_callback)(unsigned int core, void *user);
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*memory_callback)(unsigned int core, qemu_plugin_meminfo_t info, uint64_t address,
                                void *user);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translate_callback callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, execute_callback callback,
                                          int flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            execute_callback callback, int flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, memory_callback callback,
                                      int flags, int direction, void *user);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

enum { NO_REGISTERS = 0, ADD_U64 = 0, READS_AND_WRITES = 3 };

#if QEMU_PLUGIN_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size);

/* Copies the first two bytes of an instruction. */
static inline void first_halfword(const struct qemu_plugin_insn *insn, uint8_t bytes[2])
{
    bytes[1] = 0;
    (void)qemu_plugin_insn_data(insn, bytes, 2);
}
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);

/* Copies the first two bytes of an instruction. */
static inline void first_halfword(const struct qemu_plugin_insn *insn, uint8_t bytes[2])
{
    memcpy(bytes, qemu_plugin_insn_data(insn), 2);
}
#endif

#if QEMU_PLUGIN_API >= 2
struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int core);
int qemu_plugin_num_vcpus(void);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
                                                         int operation, qemu_plugin_u64 counter,
                                                         uint64_t addend);

/* Counters that instructions add to, one row for each core. */
typedef struct {
    struct qemu_plugin_scoreboard *rows;
} counters;

static inline bool counters_start(counters *all, size_t count)
{
    all->rows = qemu_plugin_scoreboard_new(count * sizeof(uint64_t));
    return all->rows != NULL;
}

static inline uint64_t *counters_row(counters *all, unsigned int core)
{
    return qemu_plugin_scoreboard_find(all->rows, core);
}

static inline unsigned int counters_cores(const counters *all)
{
    (void)all;
    const int cores = qemu_plugin_num_vcpus();
    return cores > 0 ? (unsigned int)cores : 0U;
}

static void counter_adds(unsigned int core, void *counter)
{
    (void)core;
    (*(uint64_t *)counter)++;
}

/*
 * From now on each execution of `insn` adds 1 to counter `index`. With several cores by a call, in
 * the first core's row: of a second core, QEMU 10 places the second inline counter of a block at
 * the square of a row's size (its product overwrites the constant that holds the core's number),
 * and ends with a segmentation fault.
 */
static inline void counters_count(counters *all, struct qemu_plugin_insn *insn, size_t index)
{
    const qemu_plugin_u64 counter = {all->rows, index * sizeof(uint64_t)};
    if (counters_cores(all) > 1) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, counter_adds, NO_REGISTERS,
                                               &counters_row(all, 0)[index]);
    } else {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, ADD_U64, counter, 1);
    }
}
#else
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t addend);

/* Counters that instructions add to, the same for all cores. */
typedef struct {
    uint64_t *row;
} counters;

static inline bool counters_start(counters *all, size_t count)
{
    all->row = calloc(count, sizeof(uint64_t));
    return all->row != NULL;
}

/* From now on each execution of `insn` adds 1 to counter `index`. */
static inline void counters_count(counters *all, struct qemu_plugin_insn *insn, size_t index)
{
    qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &all->row[index], 1);
}

static inline uint64_t *counters_row(counters *all, unsigned int core)
{
    (void)core;
    return all->row;
}

static inline unsigned int counters_cores(const counters *all)
{
    (void)all;
    return 1;
}
#endif

/* Sum of what all cores have added to counter `index`. */
static inline uint64_t counters_sum(counters *all, size_t index)
{
    uint64_t sum = 0;
    for (unsigned int core = 0; core < counters_cores(all); core++) {
        sum += counters_row(all, core)[index];
    }
    return sum;
}

/* Sets `count` counters from `first` on to 0. */
static inline void counters_clear(counters *all, size_t first, size_t count)
{
    for (unsigned int core = 0; core < counters_cores(all); core++) {
        memset(&counters_row(all, core)[first], 0, count * sizeof(uint64_t));
    }
}

#endif /* CG_PLUGIN_API_H */
