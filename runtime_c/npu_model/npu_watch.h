/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_watch.h -- memory that the core and the NPU share, as each of them sees it: a model of the
 * core's write-back cache, and of values that a stream may not touch.
 *
 * The program's own array is what the core sees: copies in a cache that keeps every line until it
 * is told otherwise, the worst that a cache may do. A second array is what the NPU sees. Cleaning
 * and invalidating move bytes between the two, a whole line at a time. The NPU's accesses are
 * checked against both.
 */
#ifndef CODEGEN_NPU_WATCH_H
#define CODEGEN_NPU_WATCH_H

#include "npu_model.h"

#define NPU_CACHE_LINE 32U

/* Bits of a byte's state. */
#define NPU_WRITTEN 1U /* the core or the NPU has given it a value */
#define NPU_KEPT    2U /* it belongs to another step: a stream may not touch it */
#define NPU_NEWER   4U /* the NPU has written it, and the core's copy is older */

/* Four arrays of `length` bytes, a multiple of a line; `core` begins on a line. */
typedef struct {
    uint8_t *core;     /* the program's bytes */
    uint8_t *memory;   /* the NPU's, which are the region's bytes */
    uint8_t *agreed;   /* the core's bytes when their lines were last cleaned or invalidated */
    uint8_t *states;   /* bits as above */
    size_t length;     /* bytes of each array */
    bool knows_writes; /* `npu_mark` tells what the core writes: a read of other bytes is a fault */
} npu_watch;

/* Both see what the core sees; no byte has a state. */
void npu_watch_begin(npu_watch *watch);

/* Sets (or takes away) bits of the states of bytes [offset, offset + length). */
void npu_mark(npu_watch *watch, size_t offset, size_t length, uint8_t bits, bool is_set);

/*
 * The core's hooks: lines that hold one of the bytes are written back where the core has changed
 * them, or taken over from memory. NPU_UNDOES_RESULT: a line that is written back holds an older
 * copy of what the NPU wrote. NPU_LOST_WRITE: a line that is taken over holds a change of the core.
 * Either is done all the same. `fault` may be NULL.
 */
npu_status npu_clean(npu_watch *watch, size_t offset, size_t length, npu_fault *fault);
npu_status npu_invalidate(npu_watch *watch, size_t offset, size_t length, npu_fault *fault);

/* NPU_NOT_INVALIDATED if the core's copy of one of these bytes is older than the NPU's result. */
npu_status npu_check_seen(const npu_watch *watch, size_t offset, size_t length, npu_fault *fault);

/* `npu_run` with the watches of its regions, each NULL or of the region's very bytes. */
npu_status npu_run_watched(const npu_device *device, const uint32_t *stream, size_t words,
                           const npu_region regions[NPU_REGIONS],
                           npu_watch *const watches[NPU_REGIONS], npu_work work, npu_fault *fault);

#endif
