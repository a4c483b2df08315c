/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlperf_tiny.c -- answers MLPerf Tiny's runner on the UART, in place of the test link.
 *
 * A command ends in '%'; every answer ends in the line m-ready. Commands: name, timestamp, profile,
 * help, db load N, db HEX, db print, infer N W, results (github.com/mlcommons/tiny, benchmark/api
 * and benchmark/runner); of the streaming wake word start, stop, db setptr N and
 * extract_uart_stream in place of infer and results (reference_submissions/streaming_wakeword).
 * Everything runs on one stack: the model's, with the link's on top.
 */
#include <string.h>

#include "cg_bench.h"
#include "cg_link.h"
#include "cg_port.h"
#include "mlperf_tiny.h"

#define WARMUPS         10u /* of `infer N` */
#define BYTES_A_LINE    8u  /* of `db print` */
#define MICROSECONDS    1000000u
#define NOT_A_NUMBER    0xFFFFFFFFu
#define GREATEST_NUMBER 99999999u

uint8_t *volatile cg_bench_stack; /* where the model's `run` notes its stack pointer */

static uint32_t loaded;   /* bytes that `db` brought */
static uint32_t expected; /* bytes that it will bring */
static uint64_t elapsed;  /* ticks of the counter since start */
static uint64_t seen;     /* the counter when `elapsed` was brought up to date */

/* ---- text ------------------------------------------------------------------------------- */

static void say(const char *text)
{
    for (; *text != '\0'; text++) {
        cg_uart_put((uint8_t)*text);
    }
}

static void say_number(uint64_t number)
{
    char digits[20];
    uint32_t count = 0;
    do {
        digits[count] = (char)('0' + (char)(number % 10u));
        number /= 10u;
        count++;
    } while (number > 0);
    while (count > 0) {
        count--;
        cg_uart_put((uint8_t)digits[count]);
    }
}

/* With three digits behind the point, rounded to the nearest. */
static void say_real(float value)
{
    if (value != value) {
        say("nan");
        return;
    }
    const bool negative = value < 0.0f;
    const double magnitude = negative ? -(double)value : (double)value;
    if (magnitude >= 1e15) {
        say(negative ? "-inf" : "inf");
        return;
    }
    const uint64_t thousandths = (uint64_t)(magnitude * 1000.0 + 0.5);
    if (negative && thousandths > 0) {
        say("-");
    }
    say_number(thousandths / 1000u);
    say(".");
    for (uint32_t unit = 100; unit > 0; unit /= 10u) {
        say_number(thousandths / unit % 10u);
    }
}

static void say_byte(uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    cg_uart_put((uint8_t)digits[byte >> 4]);
    cg_uart_put((uint8_t)digits[byte & 15u]);
}

/* The next word of a command, ended by a zero in place of the space behind it; NULL: there is none.
 */
static char *next_word(char **rest)
{
    char *word = *rest;
    while (*word == ' ') {
        word++;
    }
    if (*word == '\0') {
        return NULL;
    }
    char *end = word;
    while (*end != ' ' && *end != '\0') {
        end++;
    }
    *rest = *end == '\0' ? end : end + 1;
    *end = '\0';
    return word;
}

/* NOT_A_NUMBER for anything but a few decimal digits. */
static uint32_t number_of(const char *word)
{
    uint32_t number = 0;
    for (; *word != '\0'; word++) {
        if (*word < '0' || *word > '9' || number > GREATEST_NUMBER / 10u) {
            return NOT_A_NUMBER;
        }
        number = number * 10u + (uint32_t)(*word - '0');
    }
    return number;
}

/* Value of a hexadecimal digit; 16 for another character. */
static uint32_t digit_of(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return (uint32_t)(digit - '0');
    }
    if (digit >= 'a' && digit <= 'f') {
        return (uint32_t)(digit - 'a') + 10u;
    }
    return digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A') + 10u : 16u;
}

/* ---- the model -------------------------------------------------------------------------- */

static const cg_bench_model *model(void)
{
    return cg_bench_models[0];
}

/* To the nearest, halves away from zero, as TensorFlow quantises. */
static int8_t quantised(float value)
{
    const double real = (double)(value / cg_mlperf.input_scale);
    const double rounded =
        (real < 0.0 ? real - 0.5 : real + 0.5) + (double)cg_mlperf.input_zero_point;
    const double limited = rounded > 127.0 ? 127.0 : (rounded > -128.0 ? rounded : -128.0);
    /* Cut towards zero below: what was rounded is whole but for its half. */
    const int32_t whole = (int32_t)(limited - (double)cg_mlperf.input_zero_point);
    const int32_t result = whole + cg_mlperf.input_zero_point;
    return (int8_t)(result > 127 ? 127 : (result < -128 ? -128 : result));
}

static float feature(uint32_t index)
{
    float value = 0.0f;
    memcpy(&value, &cg_mlperf.buffer[index * sizeof value], sizeof value);
    return value;
}

/* Writes the loaded bytes as the model takes them, before each inference: it may change them. */
static void load_input(void)
{
    const cg_bench_tensor *const input = &model()->inputs[0];
    int8_t *const values = input->data;
    switch (cg_mlperf.form) {
    case CG_MLPERF_BYTES:
        memcpy(values, cg_mlperf.buffer, input->size_bytes);
        break;
    case CG_MLPERF_IMAGE:
        for (uint32_t i = 0; i < input->size_bytes; i++) {
            values[i] = (int8_t)((int32_t)cg_mlperf.buffer[i] - 128);
        }
        break;
    case CG_MLPERF_FEATURES:
        for (uint32_t i = 0; i < input->size_bytes; i++) {
            values[i] = quantised(feature(i));
        }
        break;
    case CG_MLPERF_SOUND:
        break;
    }
}

static float output_value(uint32_t index)
{
    const int8_t *const values = model()->outputs[0].data;
    return (float)(values[index] - cg_mlperf.output_zero_point) * cg_mlperf.output_scale;
}

static void results(void)
{
    const uint32_t count = model()->outputs[0].size_bytes;
    say("m-results-[");
    if (cg_mlperf.form == CG_MLPERF_FEATURES) {
        float sum = 0.0f;
        for (uint32_t i = 0; i < count; i++) {
            const float difference = output_value(i) - feature(i);
            sum += difference * difference;
        }
        say_real(sum / (float)count);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            say(i > 0 ? "," : "");
            say_real(output_value(i));
        }
    }
    say("]\r\n");
}

/* ---- time ------------------------------------------------------------------------------- */

/* Brings `elapsed` up to date: often enough that the counter wraps once in between at most. */
static void look_at_counter(void)
{
    const uint64_t now = cg_counter_read();
    const uint64_t wrapped =
        cg_counter_bits < 64 ? ((uint64_t)1 << cg_counter_bits) - 1u : ~(uint64_t)0;
    elapsed += (now - seen) & wrapped;
    seen = now;
}

static void say_microseconds(const char *name, uint64_t ticks)
{
    const uint64_t seconds = ticks / cg_mlperf.clock_hz;
    const uint64_t rest = ticks % cg_mlperf.clock_hz;
    say(name);
    say_number(seconds * MICROSECONDS + rest * MICROSECONDS / cg_mlperf.clock_hz);
    say("\r\n");
}

static void timestamp(void)
{
    look_at_counter();
    say_microseconds("m-lap-us-", elapsed);
}

/* ---- a stream of sound ------------------------------------------------------------------ */

static uint32_t steps; /* since `start` */
static uint64_t busy;  /* ticks from sound to decision in all of them */
static bool streaming;

static void say_signed(int32_t number)
{
    if (number < 0) {
        say("-");
        number = -number;
    }
    say_number((uint64_t)number);
}

static void say_list(const char *name, const int8_t *values, uint32_t count)
{
    say(name);
    say("[");
    for (uint32_t i = 0; i < count; i++) {
        say(i > 0 ? ", " : "");
        say_signed(values[i]);
    }
    say("]\r\n");
}

static void begin_stream(void)
{
    const cg_mlperf_sound *const sound = cg_mlperf.sound;
    memset(sound->samples, 0, (CG_WAKE_WORD_WINDOW + 1u) * sizeof *sound->samples);
    if (sound->frames != NULL) {
        memset(sound->frames, 0, model()->inputs[0].size_bytes);
    } else {
        (void)model()->reset();
    }
    steps = 0;
    busy = 0;
}

/* A feature as the reference stores it: cut towards zero; its overflows become the greatest. */
static int8_t stored(float value)
{
    const float scaled = value / cg_mlperf.input_scale - 128.0f;
    return scaled > 127.0f ? 127 : (int8_t)scaled;
}

/* Sound in, decision out: the new samples are in the buffer, the new features are returned. */
static const int8_t *step_of_sound(void)
{
    const cg_mlperf_sound *const sound = cg_mlperf.sound;
    const cg_bench_tensor *const input = &model()->inputs[0];
    static int8_t quantised_features[CG_WAKE_WORD_BANDS];
    float features[CG_WAKE_WORD_BANDS];
    memmove(sound->samples, sound->samples + CG_WAKE_WORD_STEP,
            (CG_WAKE_WORD_WINDOW + 1u - CG_WAKE_WORD_STEP) * sizeof *sound->samples);
    memcpy(sound->samples + CG_WAKE_WORD_WINDOW + 1u - CG_WAKE_WORD_STEP, cg_mlperf.buffer,
           CG_WAKE_WORD_STEP * sizeof *sound->samples);
    cg_wake_word_features(&sound->tables, sound->samples + 1, sound->samples[0], sound->work,
                          features);
    for (uint32_t i = 0; i < CG_WAKE_WORD_BANDS; i++) {
        quantised_features[i] = stored(features[i]);
    }
    if (sound->frames != NULL) {
        const uint32_t old = input->size_bytes - CG_WAKE_WORD_BANDS;
        memmove(sound->frames, sound->frames + CG_WAKE_WORD_BANDS, old);
        memcpy(sound->frames + old, quantised_features, CG_WAKE_WORD_BANDS);
        memcpy(input->data, sound->frames, input->size_bytes);
    } else {
        memcpy(input->data, quantised_features, CG_WAKE_WORD_BANDS);
    }
    return quantised_features;
}

static void extract(void)
{
    if (loaded < cg_mlperf.buffer_bytes) {
        say("e-[Sound has ");
        say_number(loaded);
        say(" bytes, expected ");
        say_number(cg_mlperf.buffer_bytes);
        say("]\r\n");
        return;
    }
    look_at_counter();
    const uint64_t begin = elapsed;
    const int8_t *const features = step_of_sound();
    const cg_status status = model()->run();
    look_at_counter();
    busy += elapsed - begin;
    if (status != CG_OK) {
        say("e-[The model returned status ");
        say_number((uint32_t)status);
        say("]\r\n");
        return;
    }
    const int8_t *const outputs = model()->outputs[0].data;
    if (steps < cg_mlperf.sound->activation_room) {
        cg_mlperf.sound->activations[steps] = outputs[0];
    }
    steps++;
    say_list("m-features-", features, CG_WAKE_WORD_BANDS);
    say_list("m-activations-", outputs, model()->outputs[0].size_bytes);
}

static void stop(void)
{
    const cg_mlperf_sound *const sound = cg_mlperf.sound;
    if (!streaming) {
        say("Streaming is stopped already.\r\n");
        return;
    }
    streaming = false;
    timestamp();
    say("Streaming stopped.\r\n");
    say("m-steps-");
    say_number(steps);
    say("\r\n");
    say_microseconds("m-processing-us-", busy);
    say_list("target activations: \r\n", sound->activations,
             steps < sound->activation_room ? steps : sound->activation_room);
}

static void start(void)
{
    if (streaming) {
        say("Streaming goes on already.\r\n");
        return;
    }
    streaming = true;
    begin_stream();
    say("Listening for sound ...\r\n");
    timestamp();
}

/* ---- commands --------------------------------------------------------------------------- */

static bool inferred(uint32_t count)
{
    for (; count > 0; count--) {
        load_input();
        const cg_status status = model()->run();
        look_at_counter();
        if (status != CG_OK) {
            say("e-[The model returned status ");
            say_number((uint32_t)status);
            say("]\r\n");
            return false;
        }
    }
    return true;
}

static void infer(char *rest)
{
    const char *word = next_word(&rest);
    const uint32_t count = word == NULL ? 1u : number_of(word);
    word = next_word(&rest);
    const uint32_t warmups = word == NULL ? WARMUPS : number_of(word);
    if (count == 0 || count == NOT_A_NUMBER) {
        say("e-[Inference iterations must be >0]\r\n");
        return;
    }
    if (warmups == NOT_A_NUMBER) {
        say("e-[Inference warmup must be >=0]\r\n");
        return;
    }
    if (loaded < cg_mlperf.buffer_bytes) {
        say("e-[Input has ");
        say_number(loaded);
        say(" bytes, expected ");
        say_number(cg_mlperf.buffer_bytes);
        say("]\r\n");
        return;
    }
    say("m-warmup-start-");
    say_number(warmups);
    say("\r\n");
    if (!inferred(warmups)) {
        return;
    }
    say("m-warmup-done\r\nm-infer-start-");
    say_number(count);
    say("\r\n");
    timestamp();
    if (!inferred(count)) {
        return;
    }
    timestamp();
    say("m-infer-done\r\n");
    results();
}

static void load(const char *word)
{
    const uint32_t size = word == NULL ? NOT_A_NUMBER : number_of(word);
    if (word == NULL) {
        say("e-[Command 'db load' requires the # of bytes]\r\n");
    } else if (size == 0 || size == NOT_A_NUMBER) {
        say("e-[Command 'db load' must be >0 bytes]\r\n");
    } else if (size > cg_mlperf.buffer_bytes) {
        say("e-[Supplied buffer size exceeds maximum of ");
        say_number(cg_mlperf.buffer_bytes);
        say("]\r\n");
    } else {
        expected = size;
        loaded = 0;
        say("m-[Expecting ");
        say_number(size);
        say(" bytes]\r\n");
    }
}

static void take_bytes(const char *digits)
{
    for (; *digits != '\0' && loaded < expected; digits += 2) {
        const uint32_t high = digit_of(digits[0]);
        const uint32_t low = digits[1] == '\0' ? 16u : digit_of(digits[1]);
        if (high > 15u || low > 15u) {
            say(digits[1] == '\0' ? "e-[Insufficent number of hex digits]\r\n"
                                  : "e-[Invalid hex digit]\r\n");
            return;
        }
        cg_mlperf.buffer[loaded] = (uint8_t)(high << 4 | low);
        loaded++;
        if (loaded == expected) {
            say("m-load-done\r\n");
        }
    }
    if (cg_mlperf.sound != NULL && loaded < expected) {
        say_number(loaded);
        say(" bytes received\r\n");
    }
}

/* A runner that lost an answer says from where it sends again. */
static void set_pointer(const char *word)
{
    const uint32_t at = word == NULL ? NOT_A_NUMBER : number_of(word);
    if (at > loaded) {
        say("e-[Command 'db setptr' requires a number of bytes that came]\r\n");
    } else {
        loaded = at;
    }
}

static void print_buffer(void)
{
    for (uint32_t i = 0; i < loaded; i++) {
        say(i % BYTES_A_LINE == 0 ? "m-buffer-" : "-");
        say_byte(cg_mlperf.buffer[i]);
        if (i % BYTES_A_LINE == BYTES_A_LINE - 1u || i + 1u == loaded) {
            say("\r\n");
        }
    }
}

static void data_bytes(char *rest)
{
    const char *const word = next_word(&rest);
    if (word == NULL) {
        say("e-[Command 'db' requires a subcommand]\r\n");
    } else if (strcmp(word, "load") == 0) {
        load(next_word(&rest));
    } else if (strcmp(word, "setptr") == 0) {
        set_pointer(next_word(&rest));
    } else if (strcmp(word, "print") == 0) {
        print_buffer();
    } else {
        take_bytes(word);
    }
}

static void profile(void)
{
    say("m-profile-[");
    say(cg_mlperf.profile);
    say("]\r\nm-model-[");
    say(cg_mlperf.benchmark);
    say("]\r\n");
}

static void help(void)
{
    say("name: the device's name\r\n"
        "timestamp: microseconds since start\r\n"
        "profile: the protocol and the benchmark\r\n"
        "db load N: N bytes of input will come\r\n"
        "db HEX: these bytes\r\n"
        "db print: the bytes that came\r\n"
        "infer N [W=10]: W inferences, then N that are timed\r\n"
        "results: of the last inference\r\n"
        "start, extract_uart_stream, stop: of a model that takes sound: a stream, and a step of "
        "it\r\n");
}

/* Does command `word` if it is one of a model that takes sound; true if it is. */
static bool is_of_stream(const char *word)
{
    if (cg_mlperf.sound == NULL) {
        return false;
    }
    if (strcmp(word, "start") == 0) {
        start();
    } else if (strcmp(word, "stop") == 0) {
        stop();
    } else if (strcmp(word, "extract_uart_stream") == 0) {
        extract();
    } else {
        return false;
    }
    return true;
}

static void answer(char *command)
{
    char *rest = command;
    const char *const word = next_word(&rest);
    if (word == NULL) {
        /* An empty command: how a runner finds out whether anyone is there. */
    } else if (strcmp(word, "name") == 0) {
        say("m-name-dut-[codegen]\r\n");
    } else if (strcmp(word, "timestamp") == 0) {
        timestamp();
    } else if (strcmp(word, "profile") == 0) {
        profile();
    } else if (strcmp(word, "help") == 0) {
        help();
    } else if (strcmp(word, "db") == 0) {
        data_bytes(rest);
    } else if (strcmp(word, "infer") == 0 && cg_mlperf.sound == NULL) {
        infer(rest);
    } else if (strcmp(word, "results") == 0 && cg_mlperf.sound == NULL) {
        results();
    } else if (!is_of_stream(word)) {
        say("e-[Unknown command: ");
        say(word);
        say("]\r\n");
    }
    say("m-ready\r\n");
}

void cg_link_main(void)
{
    char *const command = cg_mlperf.command;
    uint32_t length = 0;
    cg_setup_board();
    cg_counter_start();
    cg_uart_open();
    if (model()->start != NULL) {
        model()->start();
    }
    if (cg_mlperf.sound != NULL) {
        begin_stream();
    }
    seen = cg_counter_read();
    say("m-timestamp-mode-performance\r\n");
    timestamp();
    say("m-init-done\r\nm-ready\r\n");
    for (;;) {
        const char character = (char)cg_uart_get();
        if (character == '%') {
            command[length <= cg_mlperf.command_bytes ? length : 0] = '\0';
            if (length > cg_mlperf.command_bytes) {
                say("e-[Command is too long]\r\n");
            }
            answer(command);
            length = 0;
        } else if (character != '\r' && character != '\n' && length <= cg_mlperf.command_bytes) {
            if (length < cg_mlperf.command_bytes) {
                command[length] = character;
            }
            length++;
        }
    }
}

/* ---- what start-up refers to ------------------------------------------------------------ */

void cg_link_broken(void)
{
    say("\r\ne-[Fault]\r\n");
    for (;;) {
    }
}
