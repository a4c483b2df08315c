/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlperf_tiny.h -- what the firmware for MLPerf Tiny's runner knows of its model; written by the
 * generator as mlperf_model.c. Never part of a product build.
 */
#ifndef CG_MLPERF_TINY_H
#define CG_MLPERF_TINY_H

#include <stdbool.h>
#include <stdint.h>

#include "wake_word.h"

/* Kinds of input that the runner sends, and of answers that it asks for. */
typedef enum {
    CG_MLPERF_BYTES,    /* the input as it is; answer: every output as a real number */
    CG_MLPERF_IMAGE,    /* unsigned bytes, 128 above the input's; answer: as of BYTES */
    CG_MLPERF_FEATURES, /* floats, to be quantised; answer: mean squared difference of the output */
    CG_MLPERF_SOUND     /* 512 samples of 16 bits a step; answer: features and outputs as stored */
} cg_mlperf_form;

/* State that a stream of sound keeps between steps. */
typedef struct {
    cg_wake_word_tables tables;
    int16_t *samples;    /* WINDOW of them, behind the one in front of the window */
    float *work;         /* WINDOW floats */
    int8_t *frames;      /* features of the model's whole window; NULL: it keeps its own */
    int8_t *activations; /* of each step since `start`: the first output */
    uint32_t activation_room;
} cg_mlperf_sound;

typedef struct {
    const char *benchmark; /* as the runner calls it */
    cg_mlperf_form form;
    float input_scale;
    int32_t input_zero_point;
    float output_scale;
    int32_t output_zero_point;
    uint32_t clock_hz; /* of the counter */
    uint8_t *buffer;   /* what `db` loads; aligned for floats */
    uint32_t buffer_bytes;
    char *command;          /* command_bytes + 1 characters */
    uint32_t command_bytes; /* longest command, as the runner has it */
    const char *profile;
    const cg_mlperf_sound *sound; /* NULL: the model takes no sound */
} cg_mlperf_model;

extern const cg_mlperf_model cg_mlperf;

#endif /* CG_MLPERF_TINY_H */
