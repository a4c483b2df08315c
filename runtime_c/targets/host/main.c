/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c -- runs the cases of a file and writes the results to another: `program CASES RESULTS`.
 *
 * CASES, in 32-bit words of the host: model, number of cases, number of paints, the paints; then
 * the inputs of each case. RESULTS, for each case and paint: status, outputs, peak of each pool
 * (words), whether the guards are intact (a byte). Exit status 2: the files cannot be read or
 * written.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench_host.h"

enum { MAX_PAINTS = 16 };

static size_t total_bytes(const cg_bench_tensor *tensors, uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; ++i) {
        total += tensors[i].size_bytes;
    }
    return total;
}

static void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "cg_host: %s\n", what);
        exit(2);
    }
}

static void read_bytes(FILE *file, void *data, size_t bytes)
{
    check(fread(data, 1, bytes, file) == bytes, "the file of cases ends early");
}

static void write_bytes(FILE *file, const void *data, size_t bytes)
{
    check(fwrite(data, 1, bytes, file) == bytes, "cannot write the results");
}

static void run_case(FILE *results, uint32_t model_index, uint8_t paint, const uint8_t *inputs)
{
    const cg_bench_model *model = cg_bench_models[model_index];
    size_t output_bytes = total_bytes(model->outputs, model->output_count);
    uint8_t *outputs = malloc(output_bytes + 1u);
    uint32_t *peaks = malloc((model->pool_count + 1u) * sizeof *peaks);
    uint8_t guards_intact = 0;
    int32_t status;

    check(outputs != NULL && peaks != NULL, "out of memory");
    status = cg_host_run(model_index, paint, inputs, outputs, peaks, &guards_intact, NULL);
    write_bytes(results, &status, sizeof status);
    write_bytes(results, outputs, output_bytes);
    write_bytes(results, peaks, model->pool_count * sizeof *peaks);
    write_bytes(results, &guards_intact, sizeof guards_intact);
    free(peaks);
    free(outputs);
}

int main(int argc, char **argv)
{
    uint32_t header[3]; /* model, cases, paints */
    uint32_t paints[MAX_PAINTS];
    FILE *cases = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *results = argc == 3 ? fopen(argv[2], "wb") : NULL;
    size_t input_bytes;
    uint8_t *inputs;

    check(cases != NULL && results != NULL, "usage: program CASES RESULTS");
    read_bytes(cases, header, sizeof header);
    check(header[0] < cg_bench_model_count, "there is no such model");
    check(header[2] <= MAX_PAINTS, "too many paints");
    read_bytes(cases, paints, header[2] * sizeof paints[0]);
    input_bytes =
        total_bytes(cg_bench_models[header[0]]->inputs, cg_bench_models[header[0]]->input_count);
    inputs = malloc(input_bytes + 1u);
    check(inputs != NULL, "out of memory");
    for (uint32_t i = 0; i < header[1]; ++i) {
        read_bytes(cases, inputs, input_bytes);
        for (uint32_t paint = 0; paint < header[2]; ++paint) {
            run_case(results, header[0], (uint8_t)paints[paint], inputs);
        }
    }
    free(inputs);
    check(fclose(results) == 0, "cannot write the results");
    fclose(cases);
    return 0;
}
