/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c -- the target's end of the test link: takes requests, answers them, never starts
 * anything by itself. See cg_link.h.
 */
#include <string.h>

#include "cg_bench.h"
#include "cg_link.h"
#include "cg_port.h"
#include "measure.h"

#define CACHED_BYTES 64u /* the longest reply that must not be computed twice: of a run */

/* The request being answered; the reply grows in the same buffer. */
static uint32_t request_bytes;
static uint32_t reply_bytes;
static uint8_t cached[CACHED_BYTES];
static uint32_t cached_bytes;
static const cg_bench_model *sandboxed; /* the model that runs, if each of its steps is */
static const cg_bench_model *supplied;  /* the model whose inputs came since the last run */
static uint32_t session;                /* of the host; 0 since reset, until one identified it */

/* ---- numbers in frames ------------------------------------------------------------------ */

static uint32_t argument(uint32_t index)
{
    uint32_t value = 0;
    for (uint32_t i = 4; i > 0; i--) {
        value = (value << 8) | cg_board.frame[CG_LINK_HEADER_BYTES + 4u * index + i - 1u];
    }
    return value;
}

static bool has_arguments(uint32_t count)
{
    return request_bytes >= CG_LINK_HEADER_BYTES + 4u * count;
}

static uint32_t room(void)
{
    return cg_board.frame_bytes - CG_LINK_SESSION_BYTES - CG_LINK_CRC_BYTES - reply_bytes;
}

static void put_bytes(const void *bytes, uint32_t count)
{
    const uint32_t fitting = count < room() ? count : room();
    memcpy(&cg_board.frame[reply_bytes], bytes, fitting);
    reply_bytes += fitting;
}

static void put(uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    put_bytes(bytes, sizeof bytes);
}

static void put_long(uint64_t value)
{
    put((uint32_t)value);
    put((uint32_t)(value >> 32));
}

static void put_name(const char *name)
{
    put_bytes(name, (uint32_t)strlen(name));
}

static void put_fault(void)
{
    const cg_link_fault *const fault = &cg_event.fault;
    put(fault->cause);
    for (uint32_t i = 0; i < CG_LINK_FAULT_WORDS; i++) {
        put(fault->words[i]);
    }
}

/* ---- what requests speak of ------------------------------------------------------------- */

static const cg_bench_model *model_named(void)
{
    if (!has_arguments(1) || argument(0) >= cg_bench_model_count) {
        return NULL;
    }
    return cg_bench_models[argument(0)];
}

typedef struct {
    const char *name;
    const void *data;
    uint32_t size_bytes;
    uint32_t peak_bytes;
} entry;

static entry tensor_entry(const cg_bench_tensor *tensor)
{
    return (entry){tensor->name, tensor->data, tensor->size_bytes, 0};
}

/* Entry `index` of a table of the model; its name is NULL if there is none. */
static entry find_entry(const cg_bench_model *model, uint32_t table, uint32_t index)
{
    if (table == CG_LINK_INPUTS && index < model->input_count) {
        return tensor_entry(&model->inputs[index]);
    }
    if (table == CG_LINK_OUTPUTS && index < model->output_count) {
        return tensor_entry(&model->outputs[index]);
    }
    if (table == CG_LINK_POOLS && index < model->pool_count) {
        const cg_bench_pool *const pool = &model->pools[index];
        return (entry){pool->name, pool->base, pool->size_bytes, pool->peak_bytes};
    }
    if (table == CG_LINK_STEPS && index < model->step_count) {
        const cg_bench_step *const step = &model->steps[index];
        return (entry){step->name, step->data, step->size_bytes, 0};
    }
    return (entry){NULL, NULL, 0, 0};
}

static bool within(uint32_t offset, uint32_t count, uint32_t size)
{
    return offset <= size && count <= size - offset;
}

static uint32_t kept_room(void)
{
    return (uint32_t)(cg_board.free_end - cg_board.free_start);
}

static uint32_t input_bytes(const cg_bench_model *model)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < model->input_count; i++) {
        total += model->inputs[i].size_bytes;
    }
    return total;
}

/* Bytes of inputs that can be kept: all or none. */
static uint32_t kept_bytes(const cg_bench_model *model)
{
    const uint32_t total = input_bytes(model);
    return total <= kept_room() ? total : 0;
}

static void load_kept(const cg_bench_model *model)
{
    const uint8_t *from = cg_board.free_start;
    for (uint32_t i = 0; i < model->input_count; i++) {
        memcpy(model->inputs[i].data, from, model->inputs[i].size_bytes);
        from += model->inputs[i].size_bytes;
    }
}

/* ---- requests: each reads its arguments, then writes its reply -------------------------- */

static uint32_t identify(void)
{
    reply_bytes = CG_LINK_HEADER_BYTES;
    put(CG_LINK_VERSION);
    put(CG_RUNTIME_ABI);
    put(cg_bench_model_count);
    put(cg_board.frame_bytes - CG_LINK_FRAME_BYTES);
    put(cg_counter_bits);
    put(cg_calibration_ticks);
    put(cg_calibration_instructions);
    put(cg_mpu_regions());
    put(cg_measure_link_stack());
    put_bytes(cg_bench_build_sha256, sizeof cg_bench_build_sha256);
    put_name(cg_board.name);
    return CG_LINK_OK;
}

static uint32_t describe_model(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL) {
        return CG_LINK_ARGUMENT;
    }
    reply_bytes = CG_LINK_HEADER_BYTES;
    put(model->input_count);
    put(model->output_count);
    put(model->pool_count);
    put(model->step_count);
    put(kept_bytes(model));
    put_bytes(model->sha256, sizeof model->sha256);
    return CG_LINK_OK;
}

static uint32_t describe_entry(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(3)) {
        return CG_LINK_ARGUMENT;
    }
    const entry found = find_entry(model, argument(1), argument(2));
    if (found.name == NULL) {
        return CG_LINK_ARGUMENT;
    }
    reply_bytes = CG_LINK_HEADER_BYTES;
    put(found.size_bytes);
    put(found.peak_bytes);
    put((uint32_t)(uintptr_t)found.data);
    put_name(found.name);
    return CG_LINK_OK;
}

static uint32_t paint(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(2)) {
        return CG_LINK_ARGUMENT;
    }
    if (cg_context_paused() != 0) {
        return CG_LINK_NOT_NOW;
    }
    cg_measure_paint(model, (uint8_t)argument(1));
    return CG_LINK_OK;
}

static uint32_t write_input(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(3) || argument(1) >= model->input_count) {
        return CG_LINK_ARGUMENT;
    }
    const cg_bench_tensor *const tensor = &model->inputs[argument(1)];
    const uint32_t offset = argument(2);
    const uint32_t head = CG_LINK_HEADER_BYTES + 12u;
    if (!within(offset, request_bytes - head, tensor->size_bytes)) {
        return CG_LINK_ARGUMENT;
    }
    memcpy((uint8_t *)tensor->data + offset, &cg_board.frame[head], request_bytes - head);
    supplied = model;
    return CG_LINK_OK;
}

static uint32_t keep_input(void)
{
    const cg_bench_model *const model = model_named();
    const uint32_t head = CG_LINK_HEADER_BYTES + 8u;
    if (model == NULL || !has_arguments(2) ||
        !within(argument(1), request_bytes - head, kept_bytes(model))) {
        return CG_LINK_ARGUMENT;
    }
    memcpy(cg_board.free_start + argument(1), &cg_board.frame[head], request_bytes - head);
    supplied = model;
    return CG_LINK_OK;
}

/* Opens what the step that begins may use, and lets it run; not a step that cannot be sandboxed. */
static void pass_begins(void)
{
    while (cg_event.state == CG_LINK_BEGUN) {
        const uint32_t reason = cg_measure_protect_step(sandboxed, cg_event.step);
        if (reason != 0) {
            cg_event.state = CG_LINK_REFUSED;
            cg_event.status = reason;
        } else {
            cg_context_continue();
        }
    }
}

static uint32_t tell(void)
{
    reply_bytes = CG_LINK_HEADER_BYTES;
    put(cg_event.state);
    put(cg_event.status);
    put(cg_event.step);
    put_long(cg_event.ticks);
    if (cg_event.state == CG_LINK_FAULTED) {
        put_fault();
    }
    return CG_LINK_OK;
}

/* True if RUN's flags ask for things that exclude each other. */
static bool contradict(const cg_bench_model *model, uint32_t flags)
{
    const bool kept = (flags & CG_LINK_KEPT) != 0;
    const uint32_t sequence = flags & (CG_LINK_FIRST | CG_LINK_NEXT);
    return (kept && kept_bytes(model) != input_bytes(model)) || (kept && sequence != 0) ||
           sequence == (CG_LINK_FIRST | CG_LINK_NEXT);
}

/* Prepares an inference, uncounted. With a status other than CG_OK there will be none. */
static cg_status prepare(const cg_bench_model *model, uint32_t flags)
{
    if ((flags & CG_LINK_PAINTED) != 0) {
        cg_measure_paint(model, (uint8_t)argument(2));
    }
    if (model->start != NULL && (flags & CG_LINK_NEXT) == 0) {
        model->start(); /* painting has overwritten its bytes */
    }
    if ((flags & CG_LINK_KEPT) != 0) {
        load_kept(model);
    } else {
        supplied = NULL; /* the inference may write over them */
    }
    const bool resets = model->reset != NULL && (flags & CG_LINK_FIRST) != 0;
    return resets ? model->reset() : CG_OK;
}

static uint32_t run(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(3)) {
        return CG_LINK_ARGUMENT;
    }
    const uint32_t flags = argument(1);
    if (contradict(model, flags)) {
        return CG_LINK_ARGUMENT;
    }
    if (supplied != model && input_bytes(model) != 0) {
        return CG_LINK_NOT_NOW;
    }
    const cg_status prepared = prepare(model, flags);
    if (prepared != CG_OK) {
        cg_event = (cg_link_event){.status = (uint32_t)prepared, .step = CG_LINK_NO_STEP};
        return tell();
    }
    if ((flags & CG_LINK_SANDBOXED) != 0) {
        sandboxed = model;
        (void)cg_measure_protect_step(model,
                                      CG_LINK_NO_STEP); /* inputs, where a call copies them */
    } else {
        cg_measure_protect(model);
    }
    cg_context_start(model->run, flags);
    pass_begins();
    return tell();
}

static uint32_t go_on(void)
{
    if (cg_context_paused() == 0) {
        return CG_LINK_NOT_NOW;
    }
    cg_context_continue();
    pass_begins();
    return tell();
}

static uint32_t read_entry(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(5)) {
        return CG_LINK_ARGUMENT;
    }
    const entry found = find_entry(model, argument(1), argument(2));
    const uint32_t offset = argument(3);
    const uint32_t count = argument(4);
    reply_bytes = CG_LINK_HEADER_BYTES;
    if (found.data == NULL || !within(offset, count, found.size_bytes) || count > room()) {
        return CG_LINK_ARGUMENT;
    }
    put_bytes((const uint8_t *)found.data + offset, count);
    return CG_LINK_OK;
}

static uint32_t marks(void)
{
    const cg_bench_model *const model = model_named();
    if (model == NULL || !has_arguments(3) || argument(1) >= model->pool_count) {
        return CG_LINK_ARGUMENT;
    }
    if (cg_context_paused() != 0) {
        return CG_LINK_NOT_NOW;
    }
    const uint8_t value = (uint8_t)argument(2);
    const cg_marks found = cg_measure_pool(model, &model->pools[argument(1)], value);
    reply_bytes = CG_LINK_HEADER_BYTES;
    put(found.peak_bytes);
    put(found.intact);
    put(cg_measure_stack(value));
    put(cg_measure_core1_stack(value));
    return CG_LINK_OK;
}

static uint32_t counter(void)
{
    reply_bytes = CG_LINK_HEADER_BYTES;
    put_long(cg_counter_read());
    return CG_LINK_OK;
}

static uint32_t unknown(void)
{
    return CG_LINK_UNKNOWN;
}

/* ---- serving ---------------------------------------------------------------------------- */

typedef uint32_t (*answer_function)(void);

static uint32_t answer(uint32_t kind)
{
    static const answer_function answers[] = {
        [CG_LINK_IDENTIFY] = identify,
        [CG_LINK_MODEL] = describe_model,
        [CG_LINK_ENTRY] = describe_entry,
        [CG_LINK_PAINT] = paint,
        [CG_LINK_WRITE] = write_input,
        [CG_LINK_KEEP] = keep_input,
        [CG_LINK_RUN] = run,
        [CG_LINK_CONTINUE] = go_on,
        [CG_LINK_READ] = read_entry,
        [CG_LINK_MARKS] = marks,
        [CG_LINK_COUNTER] = counter,
    };
    const bool known = kind < sizeof answers / sizeof answers[0] && answers[kind] != NULL;
    return known ? answers[kind]() : unknown();
}

/* Sends the reply and keeps it if executing the request again would not be the same. */
static void reply(uint32_t kind, uint32_t status)
{
    cg_board.frame[3] = (uint8_t)status;
    cached_bytes = 0;
    if (kind == CG_LINK_RUN || kind == CG_LINK_CONTINUE) {
        memcpy(cached, cg_board.frame, reply_bytes);
        cached_bytes = reply_bytes;
    }
    cg_link_send(reply_bytes, session);
}

static bool repeats_cached(void)
{
    return cached_bytes != 0 && memcmp(cached, cg_board.frame, 3) == 0; /* sequence, kind */
}

/* Also the greeting after reset: now the UART listens; QEMU's may lose or hold what came before. */
static void garbled(void)
{
    memset(cg_board.frame, 0xFF, CG_LINK_HEADER_BYTES);
    cg_link_send(CG_LINK_HEADER_BYTES, session);
}

/* A host identifies the target: what another one has left is given up. */
static void begin_session(uint32_t asked)
{
    if (asked == 0 || asked == session) { /* an older host, or the request repeated */
        return;
    }
    session = asked;
    supplied = NULL;
    cached_bytes = 0;
    cg_context_give_up();
}

static void serve(uint32_t asked)
{
    const uint32_t kind = cg_board.frame[2];
    if (kind == CG_LINK_IDENTIFY) {
        begin_session(asked);
    } else if (asked == 0 || asked != session) {
        reply(kind, CG_LINK_OTHER_SESSION);
        return;
    }
    if (repeats_cached()) {
        memcpy(cg_board.frame, cached, cached_bytes);
        cg_link_send(cached_bytes, session);
    } else {
        reply(kind, answer(kind));
    }
}

void cg_link_main(void)
{
    cg_measure_paint_link_stack();
    cg_setup_board();
    cg_counter_start();
    cg_context_calibrate();
    cg_uart_open();
    garbled();
    for (;;) {
        uint32_t asked = 0;
        request_bytes = cg_link_receive(&asked);
        reply_bytes = CG_LINK_HEADER_BYTES;
        if (request_bytes == 0) {
            garbled();
        } else {
            serve(asked);
        }
    }
}

void cg_link_broken(void)
{
    for (;;) {
        uint32_t asked = 0;
        request_bytes = cg_link_receive(&asked);
        reply_bytes = CG_LINK_HEADER_BYTES;
        if (request_bytes == 0) {
            garbled();
        } else {
            put_fault();
            cg_board.frame[3] = CG_LINK_FAULT;
            cg_link_send(reply_bytes, session);
        }
    }
}
