/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_watch.c -- the core's cache in front of shared memory, and checks of the NPU's accesses.
 */
#include <string.h>

#include "npu_parts.h"

void npu_watch_begin(npu_watch *watch)
{
    memcpy(watch->memory, watch->core, watch->length);
    memcpy(watch->agreed, watch->core, watch->length);
    memset(watch->states, 0, watch->length);
}

void npu_mark(npu_watch *watch, size_t offset, size_t length, uint8_t bits, bool is_set)
{
    for (size_t i = offset; i < offset + length && i < watch->length; i++) {
        watch->states[i] = (uint8_t)(is_set ? watch->states[i] | bits : watch->states[i] & ~bits);
    }
}

/* True if the core has changed a byte since its line was last in step. */
static bool is_dirty(const npu_watch *watch, size_t i)
{
    return watch->core[i] != watch->agreed[i];
}

/* Index of the first dirty byte of the line that begins at `line`, or one behind the line. */
static size_t first_dirty(const npu_watch *watch, size_t line)
{
    size_t i = line;
    while (i < line + NPU_CACHE_LINE && !is_dirty(watch, i)) {
        i++;
    }
    return i;
}

static size_t first_newer(const npu_watch *watch, size_t from, size_t to)
{
    size_t i = from;
    while (i < to && (watch->states[i] & NPU_NEWER) == 0) {
        i++;
    }
    return i;
}

/* Keeps the first of several faults. */
static void note(npu_fault *noted, npu_status status, size_t address)
{
    if (noted->status == NPU_OK) {
        *noted = (npu_fault){.status = status, .address = address};
    }
}

static npu_status told(npu_fault noted, npu_fault *fault)
{
    if (fault != NULL) {
        *fault = noted;
    }
    return noted.status;
}

static size_t line_of(size_t offset)
{
    return offset - offset % NPU_CACHE_LINE;
}

static size_t end_of(const npu_watch *watch, size_t offset, size_t length)
{
    return offset < watch->length && length < watch->length - offset ? offset + length
                                                                     : watch->length;
}

npu_status npu_clean(npu_watch *watch, size_t offset, size_t length, npu_fault *fault)
{
    npu_fault noted = {.status = NPU_OK};
    const size_t end = end_of(watch, offset, length);
    for (size_t line = line_of(offset); line < end; line += NPU_CACHE_LINE) {
        const size_t line_end = line + NPU_CACHE_LINE;
        if (first_dirty(watch, line) == line_end) {
            continue;
        }
        const size_t newer = first_newer(watch, line, line_end);
        if (newer < line_end) {
            note(&noted, NPU_UNDOES_RESULT, newer);
        }
        memcpy(&watch->memory[line], &watch->core[line], NPU_CACHE_LINE);
        memcpy(&watch->agreed[line], &watch->core[line], NPU_CACHE_LINE);
        npu_mark(watch, line, NPU_CACHE_LINE, NPU_NEWER, false);
    }
    return told(noted, fault);
}

npu_status npu_invalidate(npu_watch *watch, size_t offset, size_t length, npu_fault *fault)
{
    npu_fault noted = {.status = NPU_OK};
    const size_t end = end_of(watch, offset, length);
    for (size_t line = line_of(offset); line < end; line += NPU_CACHE_LINE) {
        const size_t dirty = first_dirty(watch, line);
        if (dirty < line + NPU_CACHE_LINE) {
            note(&noted, NPU_LOST_WRITE, dirty);
        }
        memcpy(&watch->core[line], &watch->memory[line], NPU_CACHE_LINE);
        memcpy(&watch->agreed[line], &watch->memory[line], NPU_CACHE_LINE);
        npu_mark(watch, line, NPU_CACHE_LINE, NPU_NEWER, false);
    }
    return told(noted, fault);
}

npu_status npu_check_seen(const npu_watch *watch, size_t offset, size_t length, npu_fault *fault)
{
    npu_fault noted = {.status = NPU_OK};
    const size_t end = end_of(watch, offset, length);
    const size_t newer = first_newer(watch, offset, end);
    if (newer < end) {
        note(&noted, NPU_NOT_INVALIDATED, newer);
    }
    return told(noted, fault);
}

static npu_watch *watch_of(const npu_model *model, uint32_t region)
{
    return model->watches == NULL ? NULL : model->watches[region];
}

void npu_watch_read(npu_model *model, uint32_t region, uint64_t address, uint64_t length)
{
    const npu_watch *watch = watch_of(model, region);
    for (size_t i = (size_t)address; watch != NULL && i < address + length; i++) {
        const uint8_t state = watch->states[i];
        if ((state & NPU_KEPT) != 0) {
            npu_fail(model, NPU_TOUCHES_KEPT, region, i);
        } else if (is_dirty(watch, i)) {
            npu_fail(model, NPU_NOT_CLEANED, region, i);
        } else if (watch->knows_writes && (state & NPU_WRITTEN) == 0) {
            npu_fail(model, NPU_READS_UNWRITTEN, region, i);
        }
    }
}

void npu_watch_write(npu_model *model, uint32_t region, uint64_t address, uint64_t length)
{
    npu_watch *watch = watch_of(model, region);
    for (size_t i = (size_t)address; watch != NULL && i < address + length; i++) {
        if ((watch->states[i] & NPU_KEPT) != 0) {
            npu_fail(model, NPU_TOUCHES_KEPT, region, i);
        } else if ((watch->states[i] & NPU_NEWER) == 0) {
            const size_t line = line_of(i);
            if (first_dirty(watch, line) < line + NPU_CACHE_LINE) {
                npu_fail(model, NPU_DIRTY_LINE, region, i);
            }
        }
        watch->states[i] |= NPU_NEWER | NPU_WRITTEN;
    }
}

npu_status npu_run_watched(const npu_device *device, const uint32_t *stream, size_t words,
                           const npu_region regions[NPU_REGIONS],
                           npu_watch *const watches[NPU_REGIONS], npu_work work, npu_fault *fault)
{
    npu_model model;
    npu_begin(&model, device, regions, work);
    model.watches = watches;
    npu_run_words(&model, stream, words);
    return told(model.fault, fault);
}
