/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlperf_tiny.h -- what the firmware for MLPerf Tiny's runner knows of its model; written by the
 * generator as mlperf_model.c. Never part of a product build.
 */
#ifndef CG_MLPERF_TINY_H
#define CG_MLPERF_TINY_H

#include <stdbool.h>
#include <stdint.h>

/* What the runner sends, and what it asks of the outputs. */
typedef enum {
    CG_MLPERF_BYTES,   /* the input as it is; answer: every output as a real number */
    CG_MLPERF_IMAGE,   /* unsigned bytes, 128 above the input's; answer: as of BYTES */
    CG_MLPERF_FEATURES /* floats, to be quantised; answer: mean squared difference of the output */
} cg_mlperf_form;

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
} cg_mlperf_model;

extern const cg_mlperf_model cg_mlperf;

#endif /* CG_MLPERF_TINY_H */
